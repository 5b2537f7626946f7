import { type Domains, defaultDomains, groupIn } from '../../api/domains.js';
import { badRequest, conflict, invalidObject, notFound } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { Nodes } from '../../api/kinds/node.js';
import { type Pod, Pods } from '../../api/kinds/pod.js';
import { Secrets } from '../../api/kinds/secret.js';
import { type ServiceAccount, ServiceAccounts } from '../../api/kinds/service-account.js';
import {
  type BoundObjectReference,
  boundObjectMismatch,
  type TokenRequest,
  type TokenRequestSpec,
} from '../../api/kinds/token-request.js';
import { authenticationGroup } from '../../api/kinds/token-review.js';
import type { ApiObject, ObjectKey, ResourceType } from '../../api/object.js';
import { timestamp } from '../../api/time.js';
import { invalid, type Violation } from '../../api/violations.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { ClaimedObject } from '../../auth/service-account-claims.js';
import type { TokenIssuer } from '../../auth/token-issuer.js';
import { checkLookupKey } from '../../registry/keys.js';
import type { SubresourceAction } from '../../registry/resource-definition.js';
import { tokenRequestSchema } from './token-request-schema.js';

export interface TokenOptions {
  readonly objects: ObjectSource;
  readonly issuer: TokenIssuer;
  readonly apiAudiences: readonly string[];
  /** The maximum lifetime in seconds; if absent, tokens have the requested lifetime. */
  readonly maxSeconds?: number | undefined;
  /**
   * Whether pods that request the usual hour get tokens for a year, so that pods that never renew them keep working;
   * true by default.
   */
  readonly extend?: boolean | undefined;
  readonly domains?: Domains | undefined;
}

const defaultSeconds = 3_600;
const minSeconds = 600;
const maxRequestSeconds = 2 ** 32;
/** Seconds that the automatic token volume of pods requests; such tokens may be extended. */
const extendableSeconds = 3_607;
const extendedSeconds = 365 * 24 * 3_600;

/** Handles `POST .../serviceaccounts/{name}/token`: issues a token for an account. */
export const serviceAccountToken = (options: TokenOptions): SubresourceAction => ({
  type: 'action',
  request: { group: authenticationGroup, version: 'v1', kind: 'TokenRequest', schema: tokenRequestSchema },

  async prepare(key, object, { now }) {
    // The status is the server's answer; one that was sent is dropped.
    const { status: _status, ...request } = object as TokenRequest;
    const kind = kindIn(options);
    checkKey(kind, request, key);
    const account = await accountAt(key, options.objects);
    checkUid(kind, request, account);
    const wrong = checkSeconds(secondsOf(request.spec));
    if (wrong.length > 0) throw invalidObject({ ...kind, name: '' }, wrong);
    const { name = '', namespace = '', uid = '' } = account.metadata;
    const audiences = request.spec?.audiences?.length ? request.spec.audiences : options.apiAudiences;
    return {
      ...request,
      metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: timestamp(now) },
      spec: { ...request.spec, audiences },
    };
  },

  async answer(key, prepared, { warn, annotate }) {
    const request = prepared as TokenRequest;
    const { domains = defaultDomains } = options;
    const account = await accountAt(key, options.objects);
    // The account may have been deleted and created again while webhooks were called: the token is for the one that
    // they saw.
    checkUid(kindIn(options), request, account);
    const requested = secondsOf(request.spec);
    const audiences = request.spec?.audiences ?? [];
    const bound = await boundObject(request.spec?.boundObjectRef ?? undefined, account, options.objects);

    const seconds = Math.min(Number(requested), options.maxSeconds ?? Number(requested));
    if (seconds < requested) {
      warn(`requested expiration of ${requested} seconds shortened to ${seconds} seconds`);
    }
    const extended =
      (options.extend ?? true) &&
      bound.pod !== undefined &&
      seconds === extendableSeconds &&
      audiences.every((audience) => options.apiAudiences.includes(audience));
    const { token, id, issuedAt } = options.issuer.issue({
      namespace: account.metadata.namespace ?? '',
      account: claimOf(account),
      ...bound,
      audiences,
      seconds: extended ? extendedSeconds : seconds,
      warnAfterSeconds: extended ? seconds : undefined,
    });
    annotate?.(`authentication.${domains.signer}/issued-credential-id`, `JTI=${id}`);

    return {
      kind: request.kind,
      apiVersion: request.apiVersion,
      metadata: request.metadata,
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: request.spec?.boundObjectRef ?? null },
      status: { token, expirationTimestamp: timestamp((issuedAt + seconds) * 1_000) },
    };
  },
});

async function accountAt(key: ObjectKey, objects: ObjectSource): Promise<ServiceAccount> {
  checkLookupKey(ServiceAccounts, key);
  const account = await objects.get(ServiceAccounts, key);
  if (account === undefined) throw notFound({ group: '', plural: 'serviceaccounts', name: key.name });
  return account;
}

const kindIn = ({ domains = defaultDomains }: TokenOptions): Kind => ({
  group: groupIn(domains, authenticationGroup),
  kind: 'TokenRequest',
});

/** The group in which TokenRequest is served, and its kind, for errors. */
interface Kind {
  readonly group: string;
  readonly kind: string;
}

function checkKey(kind: Kind, { metadata: { name, namespace } }: TokenRequest, key: ObjectKey): void {
  if (name && name !== key.name)
    throw invalidObject({ ...kind, name: key.name }, [
      invalid('metadata.name', name, 'must match the service account name if specified'),
    ]);
  if (namespace && namespace !== key.namespace)
    throw invalidObject({ ...kind, name: key.name }, [
      invalid('metadata.namespace', namespace, 'must match the service account namespace if specified'),
    ]);
}

function checkUid(kind: Kind, { metadata: { uid } }: TokenRequest, account: ServiceAccount): void {
  if (!uid || uid === account.metadata.uid) return;
  throw conflict(
    { group: kind.group, plural: kind.kind, name: account.metadata.name },
    `the UID in the token request (${uid}) does not match the UID of the service account (${account.metadata.uid})`,
  );
}

/** Returns the requested seconds; beyond 2^53 as a bigint, which keeps every digit. */
const secondsOf = (spec: TokenRequestSpec | undefined): number | bigint => spec?.expirationSeconds ?? defaultSeconds;

function checkSeconds(seconds: number | bigint): readonly Violation[] {
  const field = 'spec.expirationSeconds';
  if (seconds < minSeconds) return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds <= maxRequestSeconds) return [];
  return [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
}

interface BoundReferences {
  readonly pod?: ClaimedObject;
  readonly secret?: ClaimedObject;
  readonly node?: ClaimedObject;
}

/** The kinds that a token can be bound to. */
const bindable: ReadonlyMap<string, ResourceType> = new Map<string, ResourceType>([
  [Pods.kind, Pods],
  [Secrets.kind, Secrets],
  [Nodes.kind, Nodes],
]);

async function boundObject(
  ref: BoundObjectReference | undefined,
  account: ServiceAccount,
  objects: ObjectSource,
): Promise<BoundReferences> {
  if (ref === undefined) return {};
  const { group, version } = groupAndVersion(ref.apiVersion ?? '');
  const type = group === '' ? bindable.get(ref.kind ?? '') : undefined;
  if (type === undefined) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${ref.kind ?? ''}`);
  }
  const { name = '' } = ref;
  const key = type.namespaced ? { namespace: account.metadata.namespace, name } : { name };
  checkLookupKey(type, key);
  const object = await objects.get(type, key);
  if (object === undefined) throw notFound({ group: '', plural: type.plural, name });
  const pod = type === Pods ? checkedPod(object, account) : undefined;
  if (ref.uid && ref.uid !== object.metadata.uid) {
    throw conflict({ group: '', plural: type.kind, name }, boundObjectMismatch(ref));
  }
  if (type === Secrets) return { secret: claimOf(object) };
  if (pod === undefined) return { node: claimOf(object) };
  return { pod: claimOf(object), ...(await nodeUnder(pod, objects)) };
}

/** Splits an API version. One without a group belongs to the core group, and so does an invalid one. */
function groupAndVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const parts = apiVersion.split('/');
  if (parts.length === 1) return { group: '', version: apiVersion };
  const [group = '', version = ''] = parts;
  return parts.length === 2 ? { group, version } : { group: '', version: '' };
}

function checkedPod(object: ApiObject, account: ServiceAccount): Pod {
  const pod: Pod = object;
  const { name = '' } = account.metadata;
  if (pod.spec?.serviceAccountName === name) return pod;
  throw badRequest(
    `cannot bind token for serviceaccount ${quote(name)} to pod running with different serviceaccount name.`,
  );
}

/** Returns the claim about the pod's node, with its uid if the node is known. */
async function nodeUnder({ spec }: Pod, objects: ObjectSource): Promise<BoundReferences> {
  const name = spec?.nodeName;
  if (!name) return {};
  const node = await objects.get(Nodes, { name });
  return { node: { name, uid: node?.metadata.uid ?? '' } };
}

const claimOf = ({ metadata: { name = '', uid = '' } }: ApiObject): ClaimedObject => ({ name, uid });
