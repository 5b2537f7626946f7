import { randomUUID } from 'node:crypto';
import { conditionMetrics } from '../admission/condition-metrics.js';
import type { Domains } from '../api/domains.js';
import { type UserInfo, wellKnown } from '../api/user.js';
import { Catalogue } from '../apiserver/catalogue.js';
import type { FeatureGates } from '../apiserver/feature-gates.js';
import { localClient } from '../apiserver/local-client.js';
import { type NonResourceRoutes, nonResourceRoutes } from '../apiserver/non-resource.js';
import { settlingAtOnce } from '../apiserver/operations/request-tracker.js';
import type { Parts } from '../apiserver/parts.js';
import { handle } from '../apiserver/pipeline.js';
import type { ApiRequest, ApiResponse } from '../apiserver/request.js';
import { StoredObjects } from '../apiserver/stored-objects.js';
import { WriteQueue } from '../apiserver/write/write-queue.js';
import { Impersonation } from '../auth/impersonation.js';
import type { Client, ClientOptions } from '../client/client.js';
import { domainClient } from '../client/domain-client.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { type FollowOptions, prefixErrors } from '../runtime/text-source.js';
import { takingTurns } from '../runtime/turn-taking.js';
import type { Revision } from '../store/store.js';
import { type Access, openAccess } from './access.js';
import type { Authentication } from './authentication.js';
import { type Credentials, openCredentials } from './credentials.js';
import { openDefinitions } from './definitions.js';
import { healthChecks } from './health-checks.js';
import { recordTokenUse } from './legacy-token-tracking.js';
import type { OpenedEncryption } from './open-encryption.js';
import type { OpenedOperations } from './operations.js';
import { optionDefaults } from './option-defaults.js';
import type { ServerOptions } from './options.js';
import { openPolicies, type Policies } from './policies.js';
import { type OpenedServingFiles, openServingFiles } from './serving-files.js';
import { reachableHost } from './serving-names.js';
import { servedSigners } from './signers.js';
import { mayBeShared } from './store-sharing.js';
import { openWebhooks, type Webhooks } from './webhooks.js';

/** The dependencies that all parts of a server share. */
export interface ServerContext {
  readonly operations: OpenedOperations;
  readonly featureGates: FeatureGates;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  /** The encryption of the store, if it is encrypted. */
  readonly encryption: OpenedEncryption | undefined;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

/**
 * State that is not known when the first parts are opened, or that changes later. Parts that need it get a function,
 * which they call for each request.
 */
interface ServerState {
  /** The phase of the server; `open` once the objects that every server starts with exist. */
  phase: 'opening' | 'open' | 'stopping';
  /** The host:port at which clients reach the server. */
  address: string;
  /** Returns in PEM the CAs of client signers that have a CA of their own. */
  clientIssuers: () => string;
  /** The oldest revision that a watch may resume from. */
  firstRevision: Revision;
}

/** The API server without a port and without controllers. */
export interface Core {
  readonly state: ServerState;
  readonly credentials: Credentials;
  readonly authentication: Authentication;
  readonly objects: StoredObjects;
  readonly catalogue: Catalogue;
  readonly webhooks: Webhooks;
  readonly parts: Parts;
  /** Handles a request that arrived over the network. */
  answer(request: ApiRequest): Promise<ApiResponse>;
  /** Handles a request from this process. */
  answerInProcess(request: ApiRequest): Promise<ApiResponse>;
  clientOf(user: UserInfo, agent: string, options?: ClientOptions): Client;
  /** Returns a client with the identity of the server. */
  ownClient(agent?: string): Client;
  /** Must be called after the last response. Until then, a stopping server is healthy. */
  drained(): void;
}

/** Handles a request. */
export type RequestHandler = (request: ApiRequest) => Promise<ApiResponse>;

/** Hooks for tests. */
export interface TestHooks {
  /** Wraps the request handler; not wrapped by default. */
  readonly answers?: ((handle: RequestHandler) => RequestHandler) | undefined;
  /** The sources of uids and generated names; random by default. */
  readonly ids?: Pick<Parts, 'uuid' | 'random'> | undefined;
}

const randomIds: Pick<Parts, 'uuid' | 'random'> = { uuid: () => randomUUID(), random: () => Math.random };

const apiserver: UserInfo = { username: wellKnown.apiserver, groups: [wellKnown.masters, wellKnown.authenticated] };

/** Opens the API server for a store. `isNew`: the store is empty. */
export async function openCore(
  options: ServerOptions,
  context: ServerContext,
  { isNew, seams }: { readonly isNew: boolean; readonly seams: TestHooks },
): Promise<Core> {
  const { operations, featureGates, domains, clock, log, signal } = context;
  const { store, metrics } = operations;
  const state: ServerState = { phase: 'opening', address: 'localhost', clientIssuers: () => '', firstRevision: 0n };
  const drained = new AbortController();
  const catalogue = new Catalogue([]);
  // Parts that call the server itself do so only while handling a request, when the server is ready.
  const clientOf = (user: UserInfo, agent: string, clientOptions?: ClientOptions): Client =>
    domainClient(domains, localClient({ ...clientOptions, user, handle: answerInProcess, catalogue, agent, signal }));
  const ownClient = (agent = 'kube-apiserver'): Client => clientOf(apiserver, agent);

  const credentials = await credentialsFor(options, context, isNew);
  const objects = new StoredObjects(store, { clock, log });
  const access = await accessTo(options, context, { state, credentials, objects, client: ownClient });
  const { authentication, authorizer } = access;
  const { webhooks, judges } = await openJudges(options, context, {
    objects,
    authorizer,
    catalogue,
    client: () => ownClient(),
    isOpen: () => state.phase !== 'opening',
  });
  const { definitions, admission } = openDefinitions({
    ...access,
    objects,
    domains,
    clock,
    maxTokenSeconds: options.serviceAccountMaxTokenSeconds,
    extendTokens: options.extendServiceAccountTokens,
    metrics,
    signers: servedSigners({ configured: options.certificates?.signers, own: options.signers ?? [], domains }),
    webhooks: judges,
  });
  catalogue.setBuiltIn(definitions);

  const parts: Parts = {
    store,
    storeIsShared: mayBeShared(options),
    catalogue,
    authenticator: authentication.authenticator,
    authorizer,
    impersonation: new Impersonation({
      authorizer: operations.impersonations?.counting(authorizer) ?? authorizer,
      domains,
    }),
    admission,
    clock,
    log,
    domains,
    featureGates,
    writeQueue: new WriteQueue(clock, signal),
    firstRevision: () => state.firstRevision,
    operations: operations.over(catalogue, () => signal.aborted),
    intercept: options.intercept,
    ...(seams.ids ?? randomIds),
  };
  const routes = routesBeside(context, { state, objects, catalogue, authentication, drained: drained.signal });
  const plain: RequestHandler = (request) => handle(parts, routes, request);
  const answer = seams.answers?.(plain) ?? plain;
  const answerInProcess = takingTurns(settlingAtOnce(answer));
  return {
    state,
    credentials,
    authentication,
    objects,
    catalogue,
    webhooks,
    parts,
    answer,
    answerInProcess,
    clientOf,
    ownClient,
    drained: () => drained.abort(),
  };
}

/** Opens the credentials of the server. `isNew`: nothing depends on earlier ones. */
async function credentialsFor(
  { dataDir, listen, serviceAccountSigningKey }: ServerOptions,
  { clock, log, signal }: ServerContext,
  isNew: boolean,
): Promise<Credentials> {
  return openCredentials({
    directory: dataDir,
    hosts: [listen?.host ?? [], listen?.servingNames ?? []].flat(),
    serving: await givenServing(listen, { clock, log, signal }),
    reliedOn: serviceAccountSigningKey === undefined ? ['ca', 'sa.key'] : ['ca'],
    isNew,
    clock,
    log,
  });
}

/** Opens authentication and authorization. */
const accessTo = (
  options: ServerOptions,
  { operations, domains, clock, log, signal }: ServerContext,
  {
    state,
    credentials,
    objects,
    client,
  }: Pick<Core, 'state' | 'credentials' | 'objects'> & { readonly client: () => Client },
): Promise<Access> =>
  openAccess(options, {
    credentials,
    objects,
    domains,
    clock,
    log,
    signal,
    serverAddress: () => state.address,
    signerIssuers: () => state.clientIssuers(),
    secretTokenUsed: recordTokenUse({ client, domains, clock, log }),
    certificateLifetimeLeft: (seconds) => operations.onClientCertificate(seconds),
    metrics: operations.metrics,
  });

/** Opens the admission policies and webhooks that users configure. */
async function openJudges(
  { webhookServices, webhookKubeconfig }: ServerOptions,
  { operations: { metrics }, domains, clock, log }: ServerContext,
  parts: Pick<Parameters<typeof openPolicies>[0], 'objects' | 'authorizer' | 'catalogue' | 'client' | 'isOpen'>,
): Promise<{ readonly webhooks: Webhooks; readonly judges: Policies }> {
  const shared = { ...parts, domains, clock, metrics, conditions: metrics && conditionMetrics(metrics) };
  const webhooks = await openWebhooks({ ...shared, services: webhookServices, kubeconfig: webhookKubeconfig, log });
  const policies = await openPolicies(shared);
  return {
    webhooks,
    judges: {
      mutating: [...policies.mutating, ...webhooks.mutating],
      validating: [...policies.validating, ...webhooks.validating],
    },
  };
}

/** Returns the routes of paths that name no resource: discovery, health, metrics and others. */
function routesBeside(
  { operations: { store, metrics }, encryption, clock }: ServerContext,
  {
    state,
    objects,
    catalogue,
    authentication: { openId },
    drained,
  }: Pick<Core, 'state' | 'objects' | 'catalogue' | 'authentication'> & { readonly drained: AbortSignal },
): NonResourceRoutes {
  return nonResourceRoutes({
    catalogue,
    clock,
    checks: healthChecks({
      store,
      objects,
      clock,
      signal: drained,
      ...(encryption === undefined ? {} : { keyServices: encryption.problem }),
      bootstrapped: () => state.phase !== 'opening',
      stopping: () => state.phase === 'stopping',
    }),
    serverAddress: () => state.address,
    ...(metrics === undefined ? {} : { metrics: () => metrics.expose() }),
    ...(openId === undefined ? {} : { openId }),
  });
}

/** Opens the serving certificate that the options configure, if any. */
async function givenServing(
  listen: ServerOptions['listen'],
  following: FollowOptions,
): Promise<OpenedServingFiles | undefined> {
  const { host = optionDefaults.host, servingNames = [], serving } = listen ?? {};
  if (serving === undefined) return undefined;
  const names = servingNames.length > 0 ? servingNames : [reachableHost(host)];
  return prefixErrors('the serving certificate', () => openServingFiles(serving, { ...following, names }));
}
