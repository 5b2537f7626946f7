import type { ContainerStatus, Pod, Terminated } from '../../api/kinds/pod.js';
import { member } from '../../api/object.js';
import type { Column, RowCondition } from '../../registry/resource-definition.js';
import { age, column, timestampAge } from '../columns.js';

/** Columns of pods. Descriptions go over the wire, in Kubernetes' words. */

/** Summary of a pod's containers. */
interface Summary {
  readonly ready: number;
  readonly state: string;
  readonly restarts: Restarts;
}

/** How often containers were restarted, and when the last of them had ended. */
class Restarts {
  count = 0;
  last = Number.NEGATIVE_INFINITY;

  add({ restartCount = 0, lastState }: ContainerStatus): void {
    this.count += restartCount;
    const ended = Date.parse(lastState?.terminated?.finishedAt ?? '');
    if (ended > this.last) this.last = ended;
  }

  text(now: number): string {
    const when = new Date(this.last);
    if (this.count === 0 || Number.isNaN(when.getTime())) return String(this.count);
    return `${this.count} (${timestampAge(when.toISOString(), now)} ago)`;
  }
}

const exitText = ({ reason, signal, exitCode = 0 }: Terminated): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);

/** Returns the types of true conditions; of several conditions with one type, the first counts. */
function trueConditions({ status }: Pod): ReadonlySet<string | undefined> {
  const first = new Map(status?.conditions?.toReversed().map(({ type, status: value }) => [type, value]));
  return new Set([...first].filter(([, value]) => value === 'True').map(([type]) => type));
}

/** Returns the names of sidecars: init containers that keep running beside the others. */
const lastingOf = ({ spec }: Pod): ReadonlySet<string | undefined> =>
  new Set(spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));

function summaryOf(pod: Pod): Summary {
  const { spec, status = {} } = pod;
  const gated = status.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated');
  const phase = gated ? 'SchedulingGated' : status.reason || (status.phase ?? '');
  const first = startOf(status.initContainerStatuses ?? [], lastingOf(pod), spec?.initContainers?.length ?? 0);
  if (first.state !== undefined && !trueConditions(pod).has('Initialized')) {
    return { ready: first.ready, state: first.state, restarts: first.restarts };
  }
  return mainSummary(pod, { ready: first.ready, state: first.state ?? phase, restarts: first.lasting });
}

/** Summarizes the init containers; `state` is undefined once all of them are done or running as sidecars. */
function startOf(
  statuses: readonly ContainerStatus[],
  lasting: ReadonlySet<string | undefined>,
  count: number,
): Omit<Summary, 'state'> & { readonly state: string | undefined; readonly lasting: Restarts } {
  const [all, ofLasting] = [new Restarts(), new Restarts()];
  let ready = 0;
  for (const [at, container] of statuses.entries()) {
    const { name, state = {}, started } = container;
    all.add(container);
    if (lasting.has(name)) ofLasting.add(container);
    const { terminated, waiting } = state;
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue;
    if (lasting.has(name) && started === true) {
      if (container.ready) ready++;
      continue;
    }
    const detail =
      terminated !== undefined
        ? exitText(terminated)
        : waiting?.reason && waiting.reason !== 'PodInitializing'
          ? waiting.reason
          : `${at}/${count}`;
    return { ready, state: `Init:${detail}`, restarts: all, lasting: ofLasting };
  }
  return { ready, state: undefined, restarts: all, lasting: ofLasting };
}

/** Summarizes the main containers; the first of them with a state to show determines it. */
function mainSummary(pod: Pod, before: Summary): Summary {
  const { restarts } = before;
  let { ready, state } = before;
  let [isRunning, failure] = [false, ''];
  for (const container of pod.status?.containerStatuses?.toReversed() ?? []) {
    restarts.add(container);
    const { waiting, terminated, running } = container.state ?? {};
    if (waiting?.reason) state = waiting.reason;
    else if (terminated !== undefined) {
      state = exitText(terminated);
      if ((terminated.exitCode ?? 0) !== 0) failure = state;
    } else if (container.ready && running !== undefined) {
      isRunning = true;
      ready++;
    }
  }
  // A container that ended well does not decide while others run or have failed.
  if (state === 'Completed') {
    if (isRunning && trueConditions(pod).has('Ready')) state = 'Running';
    else if (failure !== '') state = failure;
    else if (isRunning) state = 'NotReady';
  }
  return { ready, state, restarts };
}

function stateOf(pod: Pod): string {
  const { phase = '', reason } = pod.status ?? {};
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (reason === 'NodeLost') return 'Unknown';
    if (phase !== 'Succeeded' && phase !== 'Failed') return 'Terminating';
  }
  return summaryOf(pod).state;
}

function gatesOf(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return none;
  const met = trueConditions(pod);
  return `${gates.filter(({ conditionType }) => met.has(conditionType)).length}/${gates.length}`;
}

const none = '<none>';
const wide = { priority: 1 };

export const podColumns: readonly Column<Pod>[] = [
  column('Ready', 'The aggregate readiness state of this pod for accepting traffic.', (pod) => {
    const total = (pod.spec?.containers?.length ?? 0) + lastingOf(pod).size;
    return `${summaryOf(pod).ready}/${total}`;
  }),
  column('Status', 'The aggregate status of the containers in this pod.', stateOf),
  column(
    'Restarts',
    'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    (pod, now) => summaryOf(pod).restarts.text(now),
  ),
  age,
  column(
    'IP',
    'podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.',
    ({ status }) => status?.podIPs?.[0]?.ip || none,
    wide,
  ),
  column(
    'Node',
    'NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename',
    ({ spec }) => spec?.nodeName || none,
    wide,
  ),
  column(
    'Nominated Node',
    'nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.',
    ({ status }) => status?.nominatedNodeName || none,
    wide,
  ),
  column(
    'Readiness Gates',
    'If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates',
    gatesOf,
    wide,
  ),
];

const endings: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

/** Returns the condition of a row for a pod that has ended, to which nothing more happens. */
export function podCompleted({ status }: Pod): RowCondition | undefined {
  const { phase: reason = '' } = status ?? {};
  const message = member(endings, reason);
  return message === undefined ? undefined : { type: 'Completed', status: 'True', reason, message };
}
