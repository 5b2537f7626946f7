import type { Container, Pod, PodSpec, PodStatus, Volume } from '../../api/kinds/pod.js';
import { withFirst } from '../singular-alias.js';

/** Returns the pod with those defaults set that its schema has not set (`SetDefaults_*` of core/v1). */
export function withPodDefaults(pod: Pod): Pod {
  const { spec, status } = pod;
  return {
    ...pod,
    ...(spec === undefined ? {} : { spec: withSpecDefaults(spec) }),
    ...(status === undefined ? {} : { status: withAddresses(status) }),
  };
}

function withSpecDefaults(spec: PodSpec): PodSpec {
  const { containers, initContainers, ephemeralContainers, volumes, hostNetwork } = spec;
  const program = (container: Container): Container =>
    withPorts(withRequests(withPullPolicy(container)), hostNetwork === true);
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  return {
    ...spec,
    ...(account === undefined ? {} : { serviceAccountName: account, serviceAccount: account }),
    ...(containers ? { containers: containers.map(program) } : {}),
    ...(initContainers ? { initContainers: initContainers.map(program) } : {}),
    // No resources are reserved for ephemeral containers.
    ...(ephemeralContainers ? { ephemeralContainers: ephemeralContainers.map(withPullPolicy) } : {}),
    ...(volumes ? { volumes: volumes.map(withSource) } : {}),
  };
}

function withAddresses(status: PodStatus): PodStatus {
  const { podIP, podIPs } = status;
  const both = withFirst(
    podIP,
    podIPs?.map(({ ip = '' }) => ip),
  );
  if (both === undefined) return status;
  const [one, all] = both;
  return { ...status, podIP: one, podIPs: all.map((ip) => ({ ip })) };
}

const withPullPolicy = (container: Container): Container =>
  container.imagePullPolicy === undefined
    ? { ...container, imagePullPolicy: pullPolicyOf(container.image) }
    : container;

function withRequests(container: Container): Container {
  const { limits, requests } = container.resources ?? {};
  if (limits === undefined) return container;
  return { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

function withPorts(container: Container, areTheNodes: boolean): Container {
  const { ports } = container;
  if (!areTheNodes || ports === undefined) return container;
  return {
    ...container,
    ports: ports.map((port) => ({ ...port, hostPort: port.hostPort ?? port.containerPort ?? 0 })),
  };
}

/** Sets the default source of a volume: one with only a name is an empty directory. */
function withSource(volume: Volume): Volume {
  const { name, image, ...others } = volume;
  if (image !== undefined) {
    const { pullPolicy = pullPolicyOf(image.reference) } = image;
    return { ...volume, image: { ...image, pullPolicy } };
  }
  return Object.keys(others).length > 0 ? volume : { ...volume, emptyDir: {} };
}

const component = '[a-z0-9]+(?:(?:[.]|__?|-+)[a-z0-9]+)*';
const host = '(?:[A-Za-z0-9-]+(?:[.][A-Za-z0-9-]+)*(?::[0-9]+)?/)?';
/** Matches an image reference as registries define it, and captures its tag and digest. */
const reference = new RegExp(
  `^${host}${component}(?:/${component})*(:[\\w][\\w.-]{0,127})?(@[A-Za-z][\\w+.-]*:[0-9a-fA-F]{32,})?$`,
);
const longestReference = 1_024;

/** Returns the default pull policy: the latest image is always pulled. */
export function pullPolicyOf(image = ''): 'Always' | 'IfNotPresent' {
  if (image.length > longestReference) return 'IfNotPresent';
  const found = reference.exec(image);
  if (found === null) return 'IfNotPresent';
  const [, tag, digest] = found;
  return tag === ':latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
}
