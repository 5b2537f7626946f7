import type { PodSpec } from '../../api/kinds/pod.js';
import type { JsonObject } from '../../api/object.js';
import { compareQuantities, parseQuantity, type Quantity, signOf, sum } from '../../api/quantity.js';

/** The resources that determine the QoS class. */
const scarce = ['cpu', 'memory'] as const;

/** Returns the QoS class of a pod by its requests and limits (`ComputePodQOS`). */
export function qosClass(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const { resources, containers, initContainers = [] } = spec;
  const parts = resources === undefined ? [...(containers ?? []), ...initContainers] : [{ resources }];
  const [requests, limits] = [new Map<string, Quantity>(), new Map<string, Quantity>()];
  let isLimited = true;
  for (const { resources: { requests: ownRequests = {}, limits: ownLimits = {} } = {} } of parts) {
    addAll(requests, ownRequests);
    if (addAll(limits, ownLimits) < scarce.length) isLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isMet =
    requests.size === limits.size && [...requests].every(([name, amount]) => isEqual(amount, limits.get(name)));
  return isLimited && isMet ? 'Guaranteed' : 'Burstable';
}

/** Adds the positive amounts to `total`, and returns how many there were. */
function addAll(total: Map<string, Quantity>, more: JsonObject): number {
  let found = 0;
  for (const name of scarce) {
    const quantity = parseQuantity(String(more[name] ?? '0'));
    if ('wrong' in quantity || signOf(quantity) <= 0) continue;
    found++;
    const before = total.get(name);
    total.set(name, (before && sum(quantity, before)) ?? quantity);
  }
  return found;
}

const isEqual = (a: Quantity, b: Quantity | undefined): boolean => b !== undefined && compareQuantities(a, b) === 0;
