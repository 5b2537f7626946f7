import { quote } from '../../api/go-text.js';
import type { Container, ContainerPort, Pod, PodSpec } from '../../api/kinds/pod.js';
import { dnsLabel } from '../../api/names.js';
import { isObject, type JsonObject } from '../../api/object.js';
import { parseQuantity, type Quantity } from '../../api/quantity.js';
import { child, index, mapKey } from '../../api/violations.js';
import { allContainers, objectsOf, portsOf, structOf, textOr, type WithPaths } from './common-rules.js';

/**
 * The maximum number of warnings for one pod, which is more than any response has space for. Otherwise, warnings about
 * pairs of ports could be as many as the square of the number of ports.
 */
const most = 500;

/**
 * Returns warnings about a new pod that may not mean what its author expects: about its name, and those of
 * `warningsForPodSpecAndMeta` in Kubernetes, except for those about labels of nodes, affinities, annotations and paths
 * in volumes.
 */
export function podWarnings({ metadata, spec = {} }: Pod): readonly string[] {
  const programs = allContainers(spec);
  const ports = portsOf(programs);
  const warnings: string[] = [];
  for (const texts of [
    nameWarnings(metadata.name ?? ''),
    volumeWarnings(spec),
    secretWarnings(objectsOf(spec['imagePullSecrets'])),
    ...programs.map(([path, { resources = {} }]) => fractionWarnings(child(path, 'resources'), resources)),
    ...programs.map(([path, container]) => variableWarnings(child(path, 'env'), objectsOf(container['env']))),
    portWarnings(ports),
    portNameWarnings(ports),
    graceWarnings(spec['terminationGracePeriodSeconds']),
  ]) {
    for (const text of texts) if (warnings.push(text) >= most) return warnings;
  }
  return warnings;
}

function* nameWarnings(name: string): Iterable<string> {
  const wrong = dnsLabel(name);
  if (wrong.length > 0)
    yield `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${wrong.join(' ')}]`;
}

/** Types of volumes that are deprecated or no longer work. */
const outdated: readonly (readonly [sort: string, since: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];
/** Kubernetes' spelling in these warnings. */
const spellings: Readonly<Record<string, string>> = { storageos: 'storageOS' };

function* volumeWarnings({ volumes = [] }: PodSpec): Iterable<string> {
  for (const [at, volume] of volumes.entries()) {
    for (const [sourceType, since] of outdated) {
      if (isObject(volume[sourceType]))
        yield `${child(index('spec.volumes', at), spellings[sourceType] ?? sourceType)}: ${since}`;
    }
  }
  for (const { name = '', projected } of volumes) {
    for (const source of objectsOf(structOf(projected)?.['sources'])) {
      if (Object.keys(source).length === 0) yield `volume ${quote(name)} (Projected) has no sources provided`;
    }
  }
}

function* secretWarnings(secrets: readonly JsonObject[]): Iterable<string> {
  const names = secrets.map(({ name }) => textOr(name));
  const path = (at: number): string => child(index('spec.imagePullSecrets', at), 'name');
  const seen = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (seen.has(name)) yield `${path(at)}: duplicate name ${quote(name)}`;
    seen.add(name);
  }
  for (const [at, name] of names.entries()) if (name === '') yield `${path(at)}: invalid empty name ""`;
}

function* fractionWarnings(path: string, resources: NonNullable<Container['resources']>): Iterable<string> {
  for (const name of ['memory', 'ephemeral-storage']) {
    for (const list of ['limits', 'requests'] as const) {
      const amount = resources[list]?.[name];
      const quantity = amount === undefined ? undefined : parseQuantity(String(amount));
      if (quantity === undefined || 'wrong' in quantity || !isFraction(quantity)) continue;
      const at = mapKey(child(path, list), name);
      yield `${at}: fractional byte value ${quote(String(amount))} is invalid, must be an integer`;
    }
  }
}

/** Whether a quantity is not a whole number. Kubernetes keeps no digits beyond the ninth. */
const isFraction = ({ digits, exponent }: Quantity): boolean =>
  exponent < 0 && (exponent < -18 ? digits !== 0n : digits % 10n ** BigInt(-exponent) !== 0n);

/** Warns about variables that are defined again, unless the new value includes the old one. */
function* variableWarnings(path: string, variables: readonly JsonObject[]): Iterable<string> {
  const names = new Set<string>();
  for (const [at, { name: rawName, value, valueFrom }] of variables.entries()) {
    const name = textOr(rawName);
    const before = `$(${name})`;
    const text = textOr(value);
    const goesOn = !isObject(valueFrom) && text !== before && text.includes(before);
    if (names.has(name) && !goesOn) {
      yield `${index(path, at)}: hides previous definition of ${quote(name)}, which may be dropped when using apply`;
    }
    names.add(name);
  }
}

/**
 * Warns about ports that overlap. Only visits ports that it reports, since there may be very many on the same port of
 * the node at other addresses.
 */
function* portWarnings(ports: WithPaths<ContainerPort>): Iterable<string> {
  const known = new Map<string, number[]>();
  for (const [at, [path, port]] of ports.entries()) {
    const { name = '', containerPort = 0, protocol = '', hostPort = 0, hostIP = '' } = port;
    if (hostIP !== '' && hostPort === 0) {
      const shown = `{Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
      yield `${path}: hostIP set without hostPort: ${shown}`;
    }
    const any = `${containerPort}/${protocol}`;
    const onNode = (number: number): string => `${any}/${number}`;
    const atAddress = (address: string): string => `${onNode(hostPort)}/${address}`;
    const meeting =
      hostPort === 0
        ? [any]
        : [onNode(0), ...(hostIP === '' ? [onNode(hostPort)] : [atAddress(''), atAddress(hostIP)])];
    for (const other of meeting.flatMap((key) => known.get(key) ?? []).sort((one, two) => one - two)) {
      const [otherPath, { hostPort: otherPort = 0, hostIP: otherIP = '' }] = ports[other] as (typeof ports)[number];
      const conflict =
        hostIP === otherIP && hostPort === otherPort
          ? 'duplicate'
          : hostPort === 0 || otherPort === 0
            ? 'overlapping'
            : 'dangerously ambiguous';
      yield `${path}: ${conflict} port definition with ${otherPath}`;
    }
    for (const key of [any, onNode(hostPort), atAddress(hostIP)]) {
      const indexes = known.get(key);
      if (indexes === undefined) known.set(key, [at]);
      else indexes.push(at);
    }
  }
}

function* portNameWarnings(ports: WithPaths<ContainerPort>): Iterable<string> {
  const known = new Map<string, string>();
  for (const [path, { name = '' }] of ports) {
    const other = known.get(name);
    if (name === '') continue;
    if (other === undefined) known.set(name, path);
    else
      yield `${path}: duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`;
  }
}

const graceWarnings = (seconds: unknown): readonly string[] =>
  typeof seconds === 'number' && seconds < 0
    ? ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1']
    : [];
