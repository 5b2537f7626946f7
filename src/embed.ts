import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type Domains, defaultDomains } from './api/domains.js';
import { type UserInfo, wellKnown } from './api/user.js';
import { Catalogue } from './apiserver/catalogue.js';
import { defaultFeatureGates, type FeatureGates } from './apiserver/feature-gates.js';
import { localClient } from './apiserver/local-client.js';
import { nonResourceRoutes } from './apiserver/non-resource.js';
import { settling } from './apiserver/operations/passage.js';
import type { Parts } from './apiserver/parts.js';
import { handle } from './apiserver/pipeline.js';
import type { ApiRequest, ApiResponse } from './apiserver/request.js';
import { StoredObjects } from './apiserver/stored-objects.js';
import { WriteTurns } from './apiserver/write-turns.js';
import { controllerUser } from './auth/bootstrap/controller-roles.js';
import { Impersonation } from './auth/impersonation.js';
import type { Client } from './client/client.js';
import { clientIn } from './client/in-domain.js';
import { fieldManagers } from './controller/field-manager.js';
import { type Clock, endingClock, systemClock } from './runtime/clock.js';
import { type Logger, silentLogger } from './runtime/logger.js';
import { takingTurns } from './runtime/turn-taking.js';
import { openAccess } from './server/access.js';
import { publishAuthenticationInfo } from './server/authentication-info.js';
import { bootstrap } from './server/bootstrap.js';
import { certificateMetrics } from './server/certificate-metrics.js';
import { certificateControllers, certificateRights } from './server/certificate-rights.js';
import { checkOptions } from './server/check-options.js';
import { openCredentials } from './server/credentials.js';
import { openCustomResources } from './server/custom-resources.js';
import { openDefinitions } from './server/definitions.js';
import { expireEvents } from './server/event-expiry.js';
import { healthChecks } from './server/health-checks.js';
import { ensureTokenTracking, recordTokenUse } from './server/legacy-token-tracking.js';
import { openListener } from './server/listening.js';
import { type OpenedOperations, openOperations } from './server/operations.js';
import { optionDefaults } from './server/option-defaults.js';
import type { ServerOptions } from './server/options.js';
import { checkControllerNames, controllersToRun } from './server/run-controllers.js';
import { openSigners } from './server/signers.js';
import { storeFailure } from './server/store-failure.js';
import { storedInstances } from './server/stored-instances.js';
import { openWebhooks } from './server/webhooks.js';
import { openStore } from './store/open.js';

/** A running server. */
export interface Server {
  /** Where it accepts connections; undefined if it only serves this process. */
  readonly url: string | undefined;
  /** PEM of the CA that clients need to trust. */
  readonly ca: string;
  /** A kubeconfig with administrator's rights, as YAML. Needs `listen`. */
  readonly adminKubeconfig: string;
  /** The API in this process, as the user given (default: an administrator), with that user's rights. */
  client(user?: UserInfo): Client;
  /** Ends watches, lets requests finish, stops controllers, closes the store. Idempotent. */
  stop(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const administrator: UserInfo = { username: 'kubernetes-admin', groups: [wellKnown.masters, wellKnown.authenticated] };
const apiserver: UserInfo = { username: wellKnown.apiserver, groups: [wellKnown.masters, wellKnown.authenticated] };

/** Starts a server: API, store and controllers, in this process. Resolves when it is ready. */
export async function createServer(options: ServerOptions = {}): Promise<Server> {
  return (await openServer(options)).server;
}

/** A server with what answers its requests, for callers that bring requests other than over its sockets. */
export interface OpenedServer {
  readonly server: Server;
  handle(request: ApiRequest): Promise<ApiResponse>;
}

/** Like `createServer`. */
export async function openServer(options: ServerOptions = {}): Promise<OpenedServer> {
  checkOptions(options);
  const {
    clock = systemClock,
    log = silentLogger,
    domains = defaultDomains,
    graceMs = optionDefaults.graceMs,
  } = options;
  checkControllerNames(options.controllers ?? 'all');
  const { store: given = 'memory:', etcd } = options;
  const store = typeof given === 'object' ? given : await openStore(given, { clock, log, etcd });
  const stopping = new AbortController();
  // Every watch of a controller listens.
  setMaxListeners(0, stopping.signal);
  let operations: OpenedOperations | undefined;
  try {
    const featureGates = { ...defaultFeatureGates, ...options.featureGates };
    const parts = { store, featureGates, clock, log, signal: stopping.signal };
    operations = await openOperations(options.operations ?? {}, parts);
    return await start(options, { operations, featureGates, clock, log, domains, graceMs, stopping });
  } catch (error) {
    stopping.abort();
    await operations?.close();
    await store.close();
    throw error;
  }
}

interface Start {
  readonly operations: OpenedOperations;
  readonly featureGates: FeatureGates;
  readonly clock: Clock;
  readonly log: Logger;
  readonly domains: Domains;
  readonly graceMs: number;
  readonly stopping: AbortController;
}

async function start(options: ServerOptions, given: Start): Promise<OpenedServer> {
  const { operations, featureGates, clock, log, domains, graceMs, stopping } = given;
  const { store, metrics } = operations;
  let bootstrapped = false;
  let goes = false;
  /** Aborted when the last request was answered: until then a server that stops is well. */
  const drained = new AbortController();
  // Where others use the same etcd its revision says nothing of us.
  const isNew = (await store.scan('', { limit: 1 })).entries.length === 0;
  let firstRevision = 0n;
  const credentials = await openCredentials({
    directory: options.dataDir,
    hosts: [options.listen?.host ?? [], options.listen?.servingNames ?? []].flat(),
    used: isNew ? [] : options.serviceAccountSigningKey === undefined ? ['ca', 'sa.key'] : ['ca'],
    clock,
    log,
  });

  const objects = new StoredObjects(store, { clock, log });
  let address = 'localhost';
  let clientIssuers = (): string => '';
  const { authentication, authorizer, roles, nodeRestriction } = await openAccess(options, {
    credentials,
    objects,
    domains,
    clock,
    log,
    signal: stopping.signal,
    serverAddress: () => address,
    signerIssuers: () => clientIssuers(),
    secretTokenUsed: recordTokenUse({ client: () => clientOf(apiserver, 'kube-apiserver'), domains, clock, log }),
    certificateLifetimeLeft: (seconds) => operations.onClientCertificate(seconds),
    metrics,
  });
  const webhooks = await openWebhooks({
    objects,
    authorizer,
    catalogue: () => catalogue,
    services: options.webhookServices,
    kubeconfig: options.webhookKubeconfig,
    isOpen: () => bootstrapped,
    domains,
    clock,
    log,
    metrics,
  });
  const { definitions, admission } = openDefinitions({
    authentication,
    authorizer,
    roles,
    objects,
    domains,
    clock,
    nodeRestriction,
    maxTokenSeconds: options.serviceAccountMaxTokenSeconds,
    extendTokens: options.extendServiceAccountTokens,
    metrics,
    webhooks,
  });
  const catalogue = new Catalogue(definitions);
  const parts: Parts = {
    store,
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
    writeTurns: new WriteTurns(clock, stopping.signal),
    firstRevision: () => firstRevision,
    operations: operations.over(catalogue, () => stopping.signal.aborted),
    uuid: randomUUID,
  };

  const routes = nonResourceRoutes({
    catalogue,
    clock,
    checks: healthChecks({
      store,
      objects,
      clock,
      signal: drained.signal,
      bootstrapped: () => bootstrapped,
      stopping: () => goes,
    }),
    serverAddress: () => address,
    ...(metrics === undefined ? {} : { metrics: () => metrics.expose() }),
    ...(authentication.openId === undefined ? {} : { openId: authentication.openId }),
  });
  const answer = (request: ApiRequest): Promise<ApiResponse> => handle(parts, routes, request);
  const inProcess = takingTurns(settling(answer));
  const clientOf = (user: UserInfo, agent: string): Client =>
    clientIn(domains, localClient({ user, handle: inProcess, catalogue, agent, signal: stopping.signal }));

  const definitionOf = await openCustomResources({ objects, catalogue, domains, clock, log, metrics, webhooks });
  const certificates = options.certificates ?? {};
  const own = options.signers ?? [];
  await bootstrap(
    clientOf(apiserver, 'kedge-bootstrap'),
    domains,
    certificateRights(certificates, { own: own.map(({ serves }) => serves), domains }),
  );
  const opened = await openSigners({
    ca: credentials.ca,
    caFiles: options.signingCaFiles,
    maxSeconds: options.signingSeconds,
    configured: certificates.signers,
    trust: certificates.trust,
    own,
    client: () => clientOf(controllerUser('csr-signer'), 'csr-signer'),
    domains,
    clock,
    log,
    signal: stopping.signal,
  });
  clientIssuers = opened.clientIssuers;
  const onIssued =
    metrics === undefined
      ? undefined
      : certificateMetrics(metrics, {
          signers: opened.signers,
          clock,
          client: () => clientOf(apiserver, 'kube-apiserver'),
        });
  const ownClient = clientOf(apiserver, 'kube-apiserver');
  await Promise.all([
    ensureTokenTracking({ client: () => ownClient, clock }),
    publishAuthenticationInfo({ client: ownClient, info: authentication.info, clock, log, signal: stopping.signal }),
  ]);
  if (isNew) firstRevision = await store.revision();
  bootstrapped = true;
  const run = controllersToRun({
    names: options.controllers ?? 'all',
    clientOf,
    takesTurns: typeof options.store === 'string' && options.store.startsWith('etcd:'),
    leaderClient: clientOf(apiserver, fieldManagers.controllers),
    signers: opened.signers,
    certificates: certificateControllers(certificates, opened.rotated, onIssued),
    rootCa: credentials.ca.anchors,
    issuer: authentication.issuer,
    customResources: storedInstances({ parts, definitionOf, signal: stopping.signal }),
    domains,
    clock,
    log,
    metrics: operations.controllers,
    signal: stopping.signal,
  });
  const listening =
    options.listen === undefined
      ? undefined
      : await openListener({ handle: answer, clock, log }, credentials, {
          ...options.listen,
          clientCas: authentication.clientCas,
          onHandshakeFailed: () => operations.onHandshakeFailed(),
          onRenewed: options.onRenewed,
          signal: stopping.signal,
        });
  address = listening?.address ?? address;
  try {
    if (listening !== undefined) await options.onListening?.(listening);
  } catch (error) {
    await listening?.stop(0);
    throw error;
  }
  const { onFailed } = options;
  if (onFailed !== undefined) {
    void storeFailure({ store, clock, signal: stopping.signal }).then((failure) => failure && onFailed(failure));
  }
  const eventSeconds = options.eventTtlSeconds ?? optionDefaults.eventTtlSeconds;
  const expiring =
    eventSeconds > 0
      ? expireEvents({ store, clock, log, seconds: eventSeconds, signal: stopping.signal })
      : Promise.resolve();
  const controllers = run();

  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    goes = true;
    if (listening !== undefined && options.shutdownDelayMs) await endingClock(clock).sleep(options.shutdownDelayMs);
    stopping.abort();
    await listening?.stop(graceMs);
    drained.abort();
    await controllers;
    await opened.ended;
    await expiring;
    webhooks.client.close();
    await operations.close();
    await store.close();
  };
  const stopOnce = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  const server: Server = {
    url: listening?.url,
    ca: credentials.ca.anchors,
    get adminKubeconfig() {
      if (listening === undefined) throw new Error('a server that does not listen has no kubeconfig');
      return listening.adminKubeconfig;
    },
    client: (user = administrator) => clientOf(user, 'kedge'),
    stop: stopOnce,
    [Symbol.asyncDispose]: stopOnce,
  };
  return { server, handle: inProcess };
}
