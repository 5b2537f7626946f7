import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { defaultDomains } from './api/domains.js';
import { type UserInfo, wellKnown } from './api/user.js';
import { Catalogue } from './apiserver/catalogue.js';
import { localClient } from './apiserver/local-client.js';
import { nonResourceRoutes } from './apiserver/non-resource.js';
import type { Parts } from './apiserver/parts.js';
import { handle } from './apiserver/pipeline.js';
import type { ApiRequest, ApiResponse } from './apiserver/request.js';
import { StoredObjects } from './apiserver/stored-objects.js';
import { alwaysAllow } from './auth/always.js';
import { union } from './auth/authorizer-union.js';
import { Impersonation } from './auth/impersonation.js';
import { privilegedGroup } from './auth/privileged-group.js';
import { rbac } from './auth/rbac.js';
import type { Client } from './client/client.js';
import { clientIn } from './client/in-domain.js';
import { systemClock } from './runtime/clock.js';
import { silentLogger } from './runtime/logger.js';
import { openAuthentication } from './server/authentication.js';
import { bootstrap } from './server/bootstrap.js';
import { openCredentials } from './server/credentials.js';
import { openCustomResources } from './server/custom-resources.js';
import { openDefinitions } from './server/definitions.js';
import { kubeconfigText } from './server/kubeconfig-text.js';
import { openListener } from './server/listening.js';
import type { ServerOptions } from './server/options.js';
import { runControllers } from './server/run-controllers.js';
import { openSigners } from './server/signers.js';
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
}

const administrator: UserInfo = { username: 'kubernetes-admin', groups: [wellKnown.masters, wellKnown.authenticated] };
const apiserver: UserInfo = { username: wellKnown.apiserver, groups: [wellKnown.masters, wellKnown.authenticated] };

/** Starts a server: API, store and controllers, in this process. Resolves when it is ready. */
export async function createServer(options: ServerOptions = {}): Promise<Server> {
  const { clock = systemClock, log = silentLogger, domains = defaultDomains, graceMs = 10_000 } = options;
  const store =
    typeof options.store === 'object' ? options.store : await openStore(options.store ?? 'memory:', { clock, log });
  const isNew = (await store.revision()) === 0n;
  let firstRevision = 0n;
  const stopping = new AbortController();
  // Every watch of a controller listens.
  setMaxListeners(0, stopping.signal);
  const credentials = await openCredentials({
    directory: options.dataDir,
    hosts: options.listen?.host === undefined ? [] : [options.listen.host],
    clock,
  });

  const objects = new StoredObjects(store);
  const authentication = openAuthentication(
    {
      signingKey: credentials.serviceAccountKey,
      verificationKeys: options.serviceAccountVerificationKeys ?? [],
      issuers: options.serviceAccountIssuers ?? ['https://kubernetes.default.svc'],
      apiAudiences: options.apiAudiences ?? [],
      clientCa: () => credentials.ca.anchors,
      tokenFile: options.tokenFile,
      anonymous: options.anonymous ?? true,
    },
    { objects, domains, clock },
  );
  const roles = rbac(objects, domains);
  const authorizer = options.authorization === 'AlwaysAllow' ? alwaysAllow : union(privilegedGroup, roles);
  const { definitions, admission } = openDefinitions({
    authentication,
    authorizer,
    roles,
    objects,
    domains,
    maxTokenSeconds: options.serviceAccountMaxTokenSeconds,
  });
  const catalogue = new Catalogue(definitions);
  const parts: Parts = {
    store,
    catalogue,
    authenticator: authentication.authenticator,
    authorizer,
    impersonation: new Impersonation({ authorizer, domains }),
    admission,
    clock,
    log,
    domains,
    firstRevision: () => firstRevision,
    uuid: randomUUID,
  };

  let address = 'localhost';
  const routes = nonResourceRoutes({
    catalogue,
    checks: healthChecks(stopping.signal),
    serverAddress: () => address,
    ...(authentication.openId === undefined ? {} : { openId: authentication.openId }),
  });
  const answer = (request: ApiRequest): Promise<ApiResponse> => handle(parts, routes, request);
  const clientOf = (user: UserInfo, agent: string): Client =>
    clientIn(domains, localClient({ user, handle: answer, catalogue, agent, signal: stopping.signal }));

  await openCustomResources({ objects, catalogue, domains, log });
  const signers = await openSigners({
    ca: credentials.ca,
    caFiles: options.signingCaFiles,
    maxSeconds: options.signingSeconds,
    own: options.signers ?? [],
    domains,
    clock,
    log,
    signal: stopping.signal,
  });
  await bootstrap(clientOf(apiserver, 'kedge-bootstrap'), domains, {
    signers: (options.signers ?? []).map(({ serves }) => serves),
  });
  if (isNew) firstRevision = await store.revision();
  const own = options.listen === undefined ? undefined : await credentials.forListening();
  const listener =
    own === undefined || options.listen === undefined
      ? undefined
      : await openListener({ handle: answer, clock, log }, own.serving, options.listen);
  address = listener?.address ?? address;
  const adminKubeconfig = (url: string): string =>
    kubeconfigText({ url, ca: credentials.ca.anchors, user: 'kubernetes-admin', credentials: admin });
  if (listener !== undefined) {
    await options.onListening?.({ url: listener.url, adminKubeconfig: adminKubeconfig(listener.url) });
  }
  const controllers = runControllers({
    names: options.controllers ?? 'all',
    clientOf,
    takesTurns: typeof options.store === 'string' && options.store.startsWith('etcd:'),
    leaderClient: clientOf(apiserver, 'kedge'),
    signers,
    rootCa: credentials.ca.anchors,
    issuer: authentication.issuer,
    domains,
    clock,
    log,
    signal: stopping.signal,
  });

  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping.abort();
    await listener?.stop(graceMs);
    await controllers;
    await store.close();
  };
  return {
    url: listener?.url,
    ca: credentials.ca.anchors,
    get adminKubeconfig() {
      if (listener === undefined) throw new Error('a server that does not listen has no kubeconfig');
      return adminKubeconfig(listener.url);
    },
    client: (user = administrator) => clientOf(user, 'kedge'),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

const healthChecks = (stopping: AbortSignal) => [
  { name: 'ping', check: async () => undefined },
  { name: 'log', check: async () => undefined },
  { name: 'shutdown', live: false, check: async () => (stopping.aborted ? 'process is shutting down' : undefined) },
];
