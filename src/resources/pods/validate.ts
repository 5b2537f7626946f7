import type { Container, Pod, PodSpec, Volume } from '../../api/kinds/pod.js';
import { configKey, dnsLabel, dnsSubdomain } from '../../api/names.js';
import { isObject, type Json, type JsonObject } from '../../api/object.js';
import { compareQuantities, parseQuantity, signOf } from '../../api/quantity.js';
import { validateLabels } from '../../api/selectors.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  duplicate,
  eachInvalid,
  forbiddenField,
  index,
  invalid,
  mapKey,
  notFoundValue,
  notSupportedWord,
  ofEach,
  ofEachInSteps,
  required,
  type Violation,
} from '../../api/violations.js';

/**
 * What a pod must have to be one: containers with names and images, volumes that are mounted and exist, words that are
 * known. The same rules, texts and order as `ValidatePodSpec` of Kubernetes' core/validation, of which probes, hooks,
 * security contexts, affinities, tolerations, claims and most sorts of volumes are left out.
 */
export function* podViolations({ spec = {} }: Pod): Steps<readonly Violation[]> {
  const volumes = yield* volumeViolations(spec.volumes ?? []);
  const containers = spec.containers ?? [];
  const names = new Set<string>();
  const program = (at: string, given: Container): readonly Violation[] => [
    ...containerViolations(at, given, volumes.mountable),
    ...nameTaken(at, given.name ?? '', names),
  ];
  const others = (list: 'initContainers' | 'ephemeralContainers') =>
    ofEachInSteps(spec[list] ?? [], (given, at) => program(index(`spec.${list}`, at), given));
  return [
    ...volumes.found,
    ...(containers.length === 0 ? [required('spec.containers')] : []),
    ...(yield* ofEachInSteps(containers, (given, at) => program(index('spec.containers', at), given))),
    ...hostPortConflicts(containers),
    ...(yield* others('initContainers')),
    ...(yield* others('ephemeralContainers')),
    ...(spec.hostNetwork === true ? hostNetworkViolations(containers) : []),
    ...(yield* wordViolations(spec)),
    ...ofEach([...containers.entries()], ([at, { image = '' }]) => untrimmed(index('spec.containers', at), image)),
    ...ofEach([...(spec.initContainers ?? []).entries()], ([at, { image = '' }]) =>
      untrimmed(index('spec.initContainers', at), image),
    ),
  ];
}

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const longestDeadline = 2_147_483_647;

/** Of what the pod as a whole says in one word or number. */
function* wordViolations(spec: PodSpec): Steps<readonly Violation[]> {
  const { restartPolicy = '', serviceAccountName = '', nodeName = '', activeDeadlineSeconds: deadline } = spec;
  const labelled = (name: 'hostname' | 'subdomain'): readonly Violation[] => {
    const text = wordOf(spec[name]);
    return text === '' ? [] : eachInvalid(`spec.${name}`, text, dnsLabel(text));
  };
  const named = (name: string, text: string): readonly Violation[] =>
    text === '' ? [] : eachInvalid(`spec.${name}`, text, dnsSubdomain(text));
  return [
    ...oneOf('spec.restartPolicy', restartPolicy, restartPolicies),
    ...oneOf('spec.dnsPolicy', wordOf(spec['dnsPolicy']), dnsPolicies),
    ...(yield* validateLabels(
      spec['nodeSelector'] as Readonly<Record<string, string>> | undefined,
      'spec.nodeSelector',
    )),
    ...named('serviceAccountName', serviceAccountName),
    ...named('nodeName', nodeName),
    ...(typeof deadline === 'number' && (deadline < 1 || deadline > longestDeadline)
      ? [invalid('spec.activeDeadlineSeconds', deadline, `must be between 1 and ${longestDeadline}, inclusive`)]
      : []),
    ...labelled('hostname'),
    ...labelled('subdomain'),
    ...named('priorityClassName', wordOf(spec['priorityClassName'])),
  ];
}

/** Of all containers together: none comes or goes once the pod is there. */
export const containerCountViolations = (next: Pod, previous: Pod): readonly Violation[] => {
  const list = (['containers', 'initContainers'] as const).find(
    (each) => (next.spec?.[each] ?? []).length !== (previous.spec?.[each] ?? []).length,
  );
  return list === undefined ? [] : [forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
};

/** What is wrong with volumes, and the names of those with which nothing is. */
function* volumeViolations(
  volumes: readonly Volume[],
): Steps<{ readonly found: readonly Violation[]; readonly mountable: ReadonlySet<string> }> {
  const mountable = new Set<string>();
  const found = yield* ofEachInSteps(volumes, (volume, at) => {
    const path = index('spec.volumes', at);
    const namePath = child(path, 'name');
    const { name = '' } = volume;
    const wrong = [
      ...sourceViolations(path, volume),
      ...(name === '' ? [required(namePath)] : eachInvalid(namePath, name, dnsLabel(name))),
      ...(mountable.has(name) ? [duplicate(namePath, name)] : []),
    ];
    if (wrong.length === 0) mountable.add(name);
    return wrong;
  });
  return { found, mountable };
}

/** What the sorts of volumes that only name something must name. */
const namedSources: Readonly<Record<string, string>> = {
  hostPath: 'path',
  secret: 'secretName',
  persistentVolumeClaim: 'claimName',
  configMap: 'name',
};
/** In the order in which Kubernetes looks for them. */
const sources = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi'],
  ...['glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc'],
  ...['flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk'],
  ...['storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
];

function sourceViolations(path: string, volume: Volume): readonly Violation[] {
  const given = sources.filter((sort) => isObject((volume[sort] ?? null) as Json));
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((sort, at) => {
    if (at > 0) return [forbiddenField(child(path, sort), 'may not specify more than 1 volume type')];
    const name = namedSources[sort];
    const source = volume[sort] as JsonObject;
    return name === undefined || wordOf(source[name]) !== '' ? [] : [required(child(path, sort, name))];
  });
}

function containerViolations(path: string, given: Container, volumes: ReadonlySet<string>): readonly Violation[] {
  const { name = '', image = '', imagePullPolicy = '', resources = {} } = given;
  const namePath = child(path, 'name');
  return [
    ...(name === '' ? [required(namePath)] : eachInvalid(namePath, name, dnsLabel(name))),
    ...(image === '' ? [required(child(path, 'image'))] : []),
    ...oneOf(child(path, 'terminationMessagePolicy'), wordOf(given['terminationMessagePolicy']), messagePolicies),
    ...portViolations(child(path, 'ports'), given.ports ?? []),
    ...ofEach(membersOf(given['env']), (variable, at) => variableViolations(index(child(path, 'env'), at), variable)),
    ...mountViolations(child(path, 'volumeMounts'), membersOf(given['volumeMounts']), volumes),
    ...oneOf(child(path, 'imagePullPolicy'), imagePullPolicy, pullPolicies),
    ...resourceViolations(child(path, 'resources'), resources),
  ];
}

function nameTaken(path: string, name: string, names: Set<string>): readonly Violation[] {
  if (names.has(name)) return [duplicate(child(path, 'name'), name)];
  names.add(name);
  return [];
}

function portViolations(path: string, ports: NonNullable<Container['ports']>): readonly Violation[] {
  const names = new Set<string>();
  return ofEach(ports, (port, position) => {
    const at = index(path, position);
    const { containerPort = 0, hostPort = 0, name = '', protocol = '' } = port;
    const wrong = name === '' ? [] : portName(name);
    const numbered = (field: string, number: number): readonly Violation[] =>
      number >= 1 && number <= 65_535
        ? []
        : [invalid(child(at, field), number, 'must be between 1 and 65535, inclusive')];
    return [
      ...eachInvalid(child(at, 'name'), name, wrong),
      ...(name === '' || wrong.length > 0 ? [] : nameTaken(at, name, names)),
      ...(containerPort === 0 ? [required(child(at, 'containerPort'))] : numbered('containerPort', containerPort)),
      ...(hostPort === 0 ? [] : numbered('hostPort', hostPort)),
      ...oneOf(child(at, 'protocol'), protocol, protocols),
    ];
  });
}

const portName = (text: string): readonly string[] => [
  ...(text.length > 15 ? ['must be no more than 15 characters'] : []),
  ...(/^[-a-z0-9]+$/.test(text) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(text) ? [] : ['must contain at least one letter (a-z)']),
  ...(text.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(text.startsWith('-') || text.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
];

/** Of containers that run beside each other. */
function hostPortConflicts(containers: readonly Container[]): readonly Violation[] {
  const taken = new Set<string>();
  return ofEach([...containers.entries()], ([at, { ports = [] }]) =>
    ofEach([...ports.entries()], ([position, { hostPort = 0, hostIP = '', protocol = '' }]) => {
      const port = `${protocol}/${hostIP}/${hostPort}`;
      const path = child(index(child(index('spec.containers', at), 'ports'), position), 'hostPort');
      if (hostPort === 0) return [];
      if (taken.has(port)) return [duplicate(path, port)];
      taken.add(port);
      return [];
    }),
  );
}

const hostNetworkViolations = (containers: readonly Container[]): readonly Violation[] =>
  ofEach([...containers.entries()], ([at, { ports = [] }]) =>
    ofEach([...ports.entries()], ([position, { hostPort = 0, containerPort = 0 }]) =>
      hostPort === containerPort
        ? []
        : [
            invalid(
              child(index(child(index('spec.containers', at), 'ports'), position), 'hostPort'),
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ],
    ),
  );

const variableText = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const variableSources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

function variableViolations(path: string, variable: JsonObject): readonly Violation[] {
  const name = wordOf(variable['name']);
  const namePath = child(path, 'name');
  const isPrintable = /^[\x20-\x3c\x3e-\x7e]*$/.test(name);
  return [
    ...(name === '' ? [required(namePath)] : eachInvalid(namePath, name, isPrintable ? [] : [variableText])),
    ...(isObject(variable['valueFrom'] ?? null)
      ? valueSourceViolations(child(path, 'valueFrom'), variable['valueFrom'] as JsonObject, wordOf(variable['value']))
      : []),
  ];
}

function valueSourceViolations(path: string, from: JsonObject, value: string): readonly Violation[] {
  const given = variableSources.filter((source) => isObject(from[source] ?? null));
  const keyed = ['configMapKeyRef', 'secretKeyRef'].filter((source) => given.includes(source));
  const wrong = ofEach(keyed, (source) => {
    const key = wordOf((from[source] as JsonObject)['key']);
    const keyPath = child(path, source, 'key');
    return key === '' ? [required(keyPath)] : eachInvalid(keyPath, key, configKey(key));
  });
  const [first, ...more] = variableSources.map((source) => `\`${source}\``);
  const complain = (why: string): readonly Violation[] => [...wrong, invalid(path, '', why)];
  if (given.length === 0)
    return complain(`must specify one of: ${[first, ...more.slice(0, -1)].join(', ')} or ${more.at(-1)}`);
  if (value !== '') return complain('may not be specified when `value` is not empty');
  return given.length > 1 ? complain('may not have more than one field specified at a time') : wrong;
}

function mountViolations(
  path: string,
  mounts: readonly JsonObject[],
  volumes: ReadonlySet<string>,
): readonly Violation[] {
  const points = new Set<string>();
  return ofEach(mounts, (mount, position) => {
    const at = index(path, position);
    const [name, point] = [wordOf(mount['name']), wordOf(mount['mountPath'])];
    const isTaken = points.has(point);
    points.add(point);
    return [
      ...(name === '' ? [required(child(at, 'name'))] : []),
      ...(volumes.has(name) ? [] : [notFoundValue(child(at, 'name'), name)]),
      ...(point === '' ? [required(child(at, 'mountPath'))] : []),
      ...(isTaken ? [invalid(child(at, 'mountPath'), point, 'must be unique')] : []),
    ];
  });
}

/** Nothing is asked for, or had, that is less than nothing, or asked for beyond what may be had. */
function resourceViolations(
  path: string,
  { limits = {}, requests = {} }: NonNullable<Container['resources']>,
): readonly Violation[] {
  const asked = child(path, 'requests');
  return [
    ...ofEach(Object.entries(limits), ([name, amount]) => negative(mapKey(child(path, 'limits'), name), amount)),
    ...ofEach(Object.entries(requests), ([name, amount]) => [
      ...negative(mapKey(asked, name), amount),
      ...(isMore(amount, limits[name])
        ? [invalid(asked, String(amount), `must be less than or equal to ${name} limit of ${String(limits[name])}`)]
        : []),
    ]),
  ];
}

function negative(path: string, amount: Json): readonly Violation[] {
  const quantity = parseQuantity(String(amount));
  return 'wrong' in quantity || signOf(quantity) >= 0
    ? []
    : [invalid(path, String(amount), 'must be greater than or equal to 0')];
}

function isMore(amount: Json, limit: Json | undefined): boolean {
  if (limit === undefined) return false;
  const [left, right] = [parseQuantity(String(amount)), parseQuantity(String(limit))];
  return !('wrong' in left) && !('wrong' in right) && compareQuantities(left, right) > 0;
}

const untrimmed = (path: string, image: string): readonly Violation[] =>
  image.trim() === image ? [] : [invalid(child(path, 'image'), image, 'must not have leading or trailing whitespace')];

const oneOf = (path: string, word: string, known: readonly string[]): readonly Violation[] =>
  word === '' ? [required(path)] : known.includes(word) ? [] : [notSupportedWord(path, word, known)];

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const membersOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : []);
