import { type Domains, signerKeyIn } from '../../api/domains.js';
import { forbidden } from '../../api/errors.js';
import { parseBoolean } from '../../api/go-boolean.js';
import { quote } from '../../api/go-text.js';
import { mirrorAnnotation, type Pod, type PodSpec, Pods } from '../../api/kinds/pod.js';
import {
  type ContainerList,
  containersIn,
  environmentOf,
  environmentSourcesOf,
  secretNamesIn,
  secretOfSource,
  secretOfVariable,
  sourcesIn,
  volumesOf,
} from '../../api/kinds/pod-references.js';
import {
  defaultServiceAccount,
  enforceMountableSecretsAnnotation,
  type ServiceAccount,
  ServiceAccounts,
} from '../../api/kinds/service-account.js';
import { generatedName, pathSegment } from '../../api/names.js';
import { isType } from '../../api/object.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { Clock } from '../../runtime/clock.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';

export interface PodServiceAccountOptions {
  readonly objects: ObjectSource;
  readonly domains: Domains;
  readonly clock: Clock;
}

const volumePrefix = 'kube-api-access-';
/** Returns the directory in which programs look for the token of their service account. */
const mountPathIn = ({ signer }: Domains): string => `/var/run/secrets/${signer}/serviceaccount`;
/** The requested lifetime of tokens in seconds. Kubernetes extends tokens of exactly this lifetime. */
const tokenSeconds = 3_607;
/** How long to wait for the default service account, which a controller creates soon after its namespace. */
const patience = { tries: 10, restMs: 100 } as const;

/**
 * Assigns service accounts to pods: the default one, which must exist, if they name none; a volume with its token,
 * unless they opt out; and its image pull secrets. Mirror pods may not name a service account and get nothing.
 */
export function podServiceAccount(options: PodServiceAccountOptions): AdmissionStep {
  const { domains } = options;
  const mirror = signerKeyIn(domains, mirrorAnnotation);
  const isMirror = ({ metadata }: Pod): boolean => Object.hasOwn(metadata.annotations ?? {}, mirror);
  return {
    name: 'ServiceAccount',

    handles: ({ operation, resource, subresource }) => operation === 'CREATE' && isType(resource, Pods) && !subresource,

    async mutate(attributes) {
      const pod = attributes.object as Pod;
      if (isMirror(pod)) {
        refuse(attributes, mirrorProblem(pod));
        return pod;
      }
      const name = pod.spec?.serviceAccountName || defaultServiceAccount;
      const named = withSpec(pod, { serviceAccountName: name, serviceAccount: name });
      const account = await accountOf(named, attributes, options);
      const mounted = wantsToken(named, account) ? withToken(named, domains) : named;
      const complete = withPullSecrets(mounted, account);
      // Checked before all other steps, and again after all of them have changed the pod.
      if (enforcesSecrets(account, domains)) refuse(attributes, secretProblem(complete, account));
      return complete;
    },

    async validate(attributes) {
      const pod = attributes.object as Pod;
      if (isMirror(pod)) return refuse(attributes, mirrorProblem(pod));
      const account = await accountOf(pod, attributes, options);
      if (enforcesSecrets(account, domains)) refuse(attributes, secretProblem(pod, account));
    },
  };
}

function refuse(attributes: AdmissionAttributes, problem: string | undefined): void {
  if (problem !== undefined) throw forbidden(admissionSubject(attributes), problem);
}

const withSpec = (pod: Pod, changes: Partial<PodSpec>): Pod => ({ ...pod, spec: { ...pod.spec, ...changes } });

function mirrorProblem(pod: Pod): string | undefined {
  if (pod.spec?.serviceAccountName) return 'a mirror pod may not reference service accounts';
  if (secretNamesIn(pod).size > 0) return 'a mirror pod may not reference secrets';
  return sourcesIn(pod).includes('serviceAccountToken')
    ? 'a mirror pod may not use ServiceAccountToken volume projections'
    : undefined;
}

async function accountOf(
  { spec }: Pod,
  attributes: AdmissionAttributes,
  { objects, clock }: PodServiceAccountOptions,
): Promise<ServiceAccount> {
  const { namespace = '' } = attributes.key;
  const name = spec?.serviceAccountName ?? '';
  const tries = name === defaultServiceAccount ? patience.tries : 1;
  for (let attempt = 1; ; attempt++) {
    const account = await objects.get(ServiceAccounts, { namespace, name });
    if (account !== undefined) return account;
    if (attempt >= tries) break;
    await clock.sleep(patience.restMs);
  }
  throw forbidden(
    admissionSubject(attributes),
    `error looking up service account ${namespace}/${name}: ${notFoundText(name)}`,
  );
}

/** Returns the NotFound error of Kubernetes' client, which sends no request for a name that is invalid in a path. */
function notFoundText(name: string): string {
  const wrong = pathSegment(name);
  if (name === '') return 'resource name may not be empty';
  return wrong.length > 0
    ? `invalid resource name ${quote(name)}: [${wrong.join(' ')}]`
    : `serviceaccount ${quote(name)} not found`;
}

const wantsToken = ({ spec }: Pod, account: ServiceAccount): boolean => {
  const own = spec?.['automountServiceAccountToken'];
  return typeof own === 'boolean' ? own : (account.automountServiceAccountToken ?? true);
};

const mountingLists: readonly ContainerList[] = ['initContainers', 'containers'];

/** Returns the pod with the token volume, which is mounted in all containers that have no mount at this path yet. */
function withToken(pod: Pod, domains: Domains): Pod {
  const mountPath = mountPathIn(domains);
  const known = volumesOf(pod)
    .map(({ name }) => name)
    .find((name): name is string => typeof name === 'string' && name.startsWith(volumePrefix));
  const name = known ?? generatedName(volumePrefix);
  const mount = { mountPath, name, readOnly: true };
  let isMounted = false;
  const lists = mountingLists.flatMap((list) => {
    const containers = containersIn(pod, list).map((container) => {
      const mounts = Array.isArray(container['volumeMounts']) ? container['volumeMounts'] : [];
      if (mounts.some((one: unknown) => isAt(one, mountPath))) return container;
      isMounted = true;
      return { ...container, volumeMounts: [...mounts, mount] };
    });
    return containers.length === 0 ? [] : [[list, containers] as const];
  });
  const volume = known !== undefined || !isMounted ? [] : [{ name, projected: tokenProjection }];
  return withSpec(pod, {
    ...Object.fromEntries(lists),
    ...(volume.length === 0 ? {} : { volumes: [...volumesOf(pod), ...volume] }),
  });
}

const isAt = (mount: unknown, mountPath: string): boolean =>
  typeof mount === 'object' && mount !== null && 'mountPath' in mount && mount.mountPath === mountPath;

const tokenProjection = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
    { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
    {
      downwardAPI: {
        items: [{ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' }],
      },
    },
  ],
};

function withPullSecrets(pod: Pod, { imagePullSecrets = [] }: ServiceAccount): Pod {
  const own = pod.spec?.['imagePullSecrets'];
  if (imagePullSecrets.length === 0 || (Array.isArray(own) && own.length > 0)) return pod;
  return withSpec(pod, { imagePullSecrets: imagePullSecrets.map(({ name }) => (name ? { name } : {})) });
}

const enforcesSecrets = ({ metadata }: ServiceAccount, domains: Domains): boolean =>
  parseBoolean(metadata.annotations?.[signerKeyIn(domains, enforceMountableSecretsAnnotation)] ?? '') === true;

const containerTitles: readonly (readonly [ContainerList, string])[] = [
  ['initContainers', 'init container'],
  ['containers', 'container'],
  ['ephemeralContainers', 'ephemeral container'],
];

/**
 * Returns the problem with the first Secret that the pod refers to and its service account does not; undefined if there
 * is none.
 */
function secretProblem(pod: Pod, account: ServiceAccount): string | undefined {
  const { name: accountName = '' } = account.metadata;
  const mountable = new Set((account.secrets ?? []).map(({ name }) => name));
  const tail = `is not allowed because service account ${accountName} does not reference that`;
  for (const volume of volumesOf(pod)) {
    const secret = secretNameOf(volume);
    if (secret !== undefined && !mountable.has(secret)) {
      return `volume with secret.secretName=${asGoText(secret)} ${tail} secret`;
    }
  }
  for (const [list, title] of containerTitles) {
    for (const container of containersIn(pod, list)) {
      const containerText = `${title} ${String(container['name'] ?? '')}`;
      for (const variable of environmentOf(container)) {
        const secret = secretOfVariable(variable);
        if (secret !== undefined && !mountable.has(secret)) {
          const variableText = `envVar ${String(variable['name'] ?? '')} referencing secret.secretName=${asGoText(secret)}`;
          return `${containerText} with ${variableText} ${tail} secret`;
        }
      }
      for (const source of environmentSourcesOf(container)) {
        const secret = secretOfSource(source);
        if (secret !== undefined && !mountable.has(secret)) {
          return `${containerText} with envFrom referencing secret.secretName=${asGoText(secret)} ${tail} secret`;
        }
      }
    }
  }
  const pullable = new Set((account.imagePullSecrets ?? []).map(({ name }) => name));
  const pulls: unknown = pod.spec?.['imagePullSecrets'];
  const names = Array.isArray(pulls)
    ? pulls.map((one: { readonly name?: unknown } | null) => String(one?.name ?? ''))
    : [];
  const at = names.findIndex((name) => !pullable.has(name));
  return at < 0 ? undefined : `imagePullSecrets[${at}].name=${asGoText(names[at] ?? '')} ${tail} imagePullSecret`;
}

/** Quotes a text without escaping, as Kubernetes does in these messages. */
const asGoText = (text: string): string => `"${text}"`;

function secretNameOf({ secret }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof secret !== 'object' || secret === null || !('secretName' in secret)) return undefined;
  return typeof secret.secretName === 'string' ? secret.secretName : undefined;
}
