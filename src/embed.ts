import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { defaultDomains } from './api/domains.js';
import { type UserInfo, wellKnown } from './api/user.js';
import { defaultFeatureGates } from './apiserver/feature-gates.js';
import type { ApiRequest, ApiResponse } from './apiserver/request.js';
import { controllerUser } from './auth/bootstrap/controller-roles.js';
import type { Client, ClientOptions } from './client/client.js';
import { fieldManagers } from './controller/field-manager.js';
import { shutdownClock, systemClock } from './runtime/clock.js';
import { silentLogger } from './runtime/logger.js';
import { type Metrics, openMetrics } from './runtime/metrics.js';
import { publishAuthenticationInfo } from './server/authentication-info.js';
import { bootstrap } from './server/bootstrap.js';
import { certificateMetrics, measureCaEnds } from './server/certificate-metrics.js';
import { certificateControllers, certificateRights } from './server/certificate-rights.js';
import { checkOptions } from './server/check-options.js';
import { type Core, openCore, type ServerContext, type TestHooks } from './server/core.js';
import { openCustomResources } from './server/custom-resources.js';
import { expireEvents } from './server/event-expiry.js';
import { removeOldLedgerEntries } from './server/ledger-retention.js';
import { ensureTokenTracking } from './server/legacy-token-tracking.js';
import { type Listening, openListener } from './server/listening.js';
import type { OpenedEncryption } from './server/open-encryption.js';
import { type OpenedOperations, openOperations } from './server/operations.js';
import { optionDefaults } from './server/option-defaults.js';
import type { ServerOptions } from './server/options.js';
import { policyTypeCheck } from './server/policy-types.js';
import { rotationMetrics } from './server/rotation-metrics.js';
import { checkControllerNames, controllersToRun } from './server/run-controllers.js';
import { measureWaitingRequests, signerRequests } from './server/signer-metrics.js';
import { type OpenedSigners, openSigners } from './server/signers.js';
import { storeFailure } from './server/store-failure.js';
import { mayBeShared } from './server/store-sharing.js';
import { storedInstances } from './server/stored-instances.js';
import { checkFinished } from './store/copy-store.js';
import { type OpenStoreOptions, openStore } from './store/open.js';
import type { Store } from './store/store.js';

/** A running server. */
export interface Server {
  /** URL at which connections are accepted; undefined if the server can only be used from this process. */
  readonly url: string | undefined;
  /** CA in PEM that clients need to trust. It changes when its file does (`listen.serving`). */
  readonly ca: string;
  /** Kubeconfig with the rights of an administrator, as YAML. Requires `listen`. */
  readonly adminKubeconfig: string;
  /** Returns a client in this process for the given user (an administrator by default), with that user's rights. */
  client(user?: UserInfo, options?: ClientOptions): Client;
  /** Ends watches, lets requests finish, stops controllers and closes the store. Further calls have no effect. */
  stop(): Promise<void>;
  /** Calls `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const administrator: UserInfo = { username: 'kubernetes-admin', groups: [wellKnown.masters, wellKnown.authenticated] };

/** Starts a server in this process: API, store and controllers. Resolves when the server is ready. */
export async function createServer(options: ServerOptions = {}): Promise<Server> {
  return (await openServer(options)).server;
}

/** A server and its request handler, for requests that do not arrive on its sockets. */
export interface OpenedServer {
  readonly server: Server;
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** Like `server.client`, with a user agent that is recorded as the manager of written fields. */
  clientOf(user: UserInfo, agent: string, options?: ClientOptions): Client;
  /** The store that was passed or opened. */
  readonly store: Store;
}

/** Like `createServer`, but also returns what is needed to serve requests without sockets. */
export async function openServer(options: ServerOptions, seams: TestHooks = {}): Promise<OpenedServer> {
  checkOptions(options);
  const { clock = systemClock, log = silentLogger, domains = defaultDomains } = options;
  checkControllerNames(options.controllers ?? 'all');
  const stopping = new AbortController();
  const { signal } = stopping;
  // Every watch of a controller adds a listener.
  setMaxListeners(0, signal);
  let store: Store | undefined;
  let operations: OpenedOperations | undefined;
  try {
    const metrics = openMetrics({ process: true });
    const encryption = await encryptionOf(options, { domains, clock, log, signal, metrics });
    store = await storeOf(options, { clock, log, ...(encryption === undefined ? {} : { encryption }) });
    const featureGates = { ...defaultFeatureGates, ...options.featureGates };
    operations = await openOperations(options.operations ?? {}, {
      store,
      isEncrypted: encryption !== undefined,
      featureGates,
      metrics,
      clock,
      log,
      signal,
    });
    const context = { operations, featureGates, domains, clock, log, encryption, signal };
    return { ...(await start(options, context, stopping, seams)), store };
  } catch (error) {
    stopping.abort();
    await operations?.close();
    await store?.close();
    throw error;
  }
}

/** Opens the encryption for the store at the address in the options; undefined if none is configured. */
async function encryptionOf(
  { store, encryptionConfiguration }: ServerOptions,
  { metrics, ...parts }: Pick<ServerContext, 'domains' | 'clock' | 'log' | 'signal'> & { readonly metrics: Metrics },
): Promise<OpenedEncryption | undefined> {
  if (encryptionConfiguration === undefined) return undefined;
  if (typeof store === 'object') {
    throw new Error(
      'option encryptionConfiguration is for a store with an address: what is given must encrypt by itself',
    );
  }
  const [{ openEncryption }, { encryptionMetrics }] = await Promise.all([
    import('./server/open-encryption.js'),
    import('./server/encryption-metrics.js'),
  ]);
  const counted = encryptionMetrics(metrics, { clock: parts.clock, serverId: hostname() });
  return openEncryption(encryptionConfiguration, { ...parts, metrics: counted });
}

/** Returns the store in the options, or opens the one at the address in the options. */
const storeOf = async (
  { store = 'memory:', etcd }: ServerOptions,
  options: Omit<OpenStoreOptions, 'etcd'>,
): Promise<Store> => (typeof store === 'object' ? store : openStore(store, { ...options, etcd }));

/** Opens the parts one after the other, from the API to the port. If one fails, the caller closes the parts below. */
async function start(
  options: ServerOptions,
  context: ServerContext,
  stopping: AbortController,
  seams: TestHooks,
): Promise<Omit<OpenedServer, 'store'>> {
  const { store } = context.operations;
  await checkFinished(store);
  // Others may use the same etcd, so that its revision does not tell whether this store is new.
  const isNew = (await store.scan('', { limit: 1, tolerant: true })).entries.length === 0;
  const core = await openCore(options, context, { isNew, seams });
  const content = await openContent(options, context, core);
  if (isNew) core.state.firstRevision = await store.revision();
  core.state.phase = 'open';
  const runControllers = controllersFor(options, context, core, content);
  const listening = await openPort(options, context, core);
  if (options.onFailed !== undefined) void tellFailure(options.onFailed, context);
  const expiring = Promise.all([expireOldEvents(options, context), removeOldRecords(options, context)]);
  const controllers = runControllers();

  const stop = async (): Promise<void> => {
    const { shutdownDelayMs, graceMs = optionDefaults.graceMs } = options;
    core.state.phase = 'stopping';
    if (listening !== undefined && shutdownDelayMs) await shutdownClock(context.clock).sleep(shutdownDelayMs);
    stopping.abort();
    await listening?.stop(graceMs);
    core.drained();
    await controllers;
    await content.signers.ended;
    await expiring;
    core.webhooks.client.close();
    await context.operations.close();
    await store.close();
  };
  let stopped: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  const server: Server = {
    url: listening?.url,
    get ca() {
      return core.credentials.servingAnchors();
    },
    get adminKubeconfig() {
      if (listening === undefined) throw new Error('a server that does not listen has no kubeconfig');
      return listening.adminKubeconfig;
    },
    client: (user = administrator, clientOptions) => core.clientOf(user, 'kedge', clientOptions),
    stop: stopOnce,
    [Symbol.asyncDispose]: stopOnce,
  };
  return { server, handle: core.answerInProcess, clientOf: core.clientOf };
}

interface Content {
  /** Returns the definition of the storage version of a CustomResourceDefinition. */
  readonly definitionOf: Awaited<ReturnType<typeof openCustomResources>>;
  readonly signers: OpenedSigners;
}

/** Opens custom resources, the objects that every server has, and the signers, whose CAs may be in objects. */
async function openContent(options: ServerOptions, context: ServerContext, core: Core): Promise<Content> {
  const { domains, clock, log, signal } = context;
  const { certificates = {}, signers: own = [] } = options;
  const { objects, catalogue, webhooks } = core;
  const { metrics } = context.operations;
  const definitionOf = await openCustomResources({ objects, catalogue, domains, clock, log, metrics, webhooks });
  await bootstrap(core.ownClient(), domains, certificateRights(certificates, { own, domains }));
  const signers = await openSigners({
    ca: core.credentials.ca,
    caFiles: options.signingCaFiles,
    maxSeconds: options.signingSeconds,
    configured: certificates.signers,
    trust: certificates.trust,
    own,
    client: () => core.clientOf(controllerUser('csr-signer'), 'csr-signer'),
    domains,
    clock,
    log,
    signal,
  });
  core.state.clientIssuers = signers.clientIssuers;
  const client = core.ownClient();
  await Promise.all([
    ensureTokenTracking({ client: () => client, clock }),
    publishAuthenticationInfo({
      client,
      info: core.authentication.info,
      found: (clientCas) => core.credentials.othersAccept(clientCas),
      clock,
      log,
      signal,
    }),
  ]);
  return { definitionOf, signers };
}

/** Returns a function that runs the controllers. Throws for controllers that cannot be run as configured. */
function controllersFor(
  options: ServerOptions,
  context: ServerContext,
  { clientOf, ownClient, credentials, authentication, parts, catalogue }: Core,
  { definitionOf, signers: { signers, rotated } }: Content,
): () => Promise<void> {
  const { operations, domains, clock, log, signal } = context;
  const { controllers: names = 'all', store, certificates = {} } = options;
  const { metrics } = operations;
  if (metrics !== undefined) {
    measureWaitingRequests(metrics, signers, { client: ownClient, clock, log, signal });
    measureCaEnds(metrics, signers, clock);
  }
  const callbacks = metrics && {
    onIssued: certificateMetrics(metrics, { signers, clock, client: ownClient }),
    onOutcome: signerRequests(metrics, signers),
    onRotation: rotationMetrics(metrics, clock),
  };
  return controllersToRun({
    names,
    clientOf,
    takesTurns: typeof store === 'string' && mayBeShared({ store }),
    leaderClient: ownClient(fieldManagers.controllers),
    signers,
    certificates: certificateControllers(certificates, rotated, callbacks),
    rootCa: credentials.servingAnchors,
    issuer: authentication.issuer,
    customResources: storedInstances({ parts, definitionOf, signal }),
    checkPolicy: policyTypeCheck(catalogue),
    domains,
    clock,
    log,
    metrics: operations.controllers,
    signal,
  });
}

/** Opens the port, if one is configured, and reports it. */
async function openPort(
  { listen, onListening, onRenewed }: ServerOptions,
  { operations, clock, log, signal }: ServerContext,
  { answer, credentials, authentication, state }: Core,
): Promise<Listening | undefined> {
  if (listen === undefined) return undefined;
  const listening = await openListener({ handle: answer, clock, log }, credentials, {
    ...listen,
    clientCas: authentication.clientCas,
    onHandshakeFailed: () => operations.onHandshakeFailed(),
    metrics: operations.metrics,
    onRenewed,
    signal,
  });
  state.address = listening.address;
  try {
    await onListening?.(listening);
  } catch (error) {
    await listening.stop(0);
    throw error;
  }
  return listening;
}

async function tellFailure(
  onFailed: (failure: Error) => void,
  { operations: { store }, clock, signal }: ServerContext,
): Promise<void> {
  const failure = await storeFailure({ store, clock, signal });
  if (failure !== undefined) onFailed(failure);
}

/** Deletes expired events until the server stops. */
async function expireOldEvents(
  { eventTtlSeconds: seconds = optionDefaults.eventTtlSeconds }: ServerOptions,
  { operations: { store }, clock, log, signal }: ServerContext,
): Promise<void> {
  if (seconds > 0) await expireEvents({ store, clock, log, seconds, signal });
}

/** Removes records of certificates that expired long ago until the server stops. */
async function removeOldRecords(
  { ledgerRetentionDays: days = optionDefaults.ledgerRetentionDays }: ServerOptions,
  { operations: { store }, clock, log, signal }: ServerContext,
): Promise<void> {
  if (days > 0) await removeOldLedgerEntries({ store, clock, log, retentionMs: days * 86_400_000, signal });
}
