import { setMaxListeners } from 'node:events';
import type { ApiError } from '../api/errors.js';
import type { ApiObject, Unstructured } from '../api/object.js';
import { once } from '../api/once.js';
import { serviceAccountUser, type UserInfo, wellKnown } from '../api/user.js';
import type { Client, ClientOptions, FieldValidation } from '../client/client.js';
import { clientUntil } from '../controller/client-until.js';
import type { Runnable } from '../controller/controller.js';
import { openServer, type Server } from '../embed.js';
import { systemClock } from '../runtime/clock.js';
import { silentLogger } from '../runtime/logger.js';
import type { ServerOptions } from '../server/options.js';
import type { Store } from '../store/store.js';
import type { Webhook } from '../webhook/webhook.js';
import { type AccountKey, accountKubeconfig } from './account.js';
import { startActors } from './actors.js';
import { testAuthority, testKey, testPodRequest, testRequest, testSigningRequest } from './certificates.js';
import { compactStore } from './compaction.js';
import { controllersFor } from './install.js';
import { OpenWatches } from './open-watches.js';
import { AccountRefused, Refusals } from './refusals.js';
import { ReportedFailures } from './reported-failures.js';
import { stableIds } from './stable-ids.js';

/** The options of any server, and the objects, controllers and callbacks of a test. */
export interface TestServerOptions extends Omit<ServerOptions, 'store' | 'dataDir'>, ClientOptions {
  /**
   * Store of the server, by default a new one in memory. With a store of its own, a test controls its history and
   * failures.
   */
  readonly store?: string | Store;
  /** User of `client`; by default `test-admin`, who has all permissions. */
  readonly user?: UserInfo;
  /**
   * The initial objects, for example from `readManifests`. An administrator creates them before `runnables` start:
   * definitions first, waiting until they are served, then namespaces, then the others in order. With definitions, the
   * controllers that serve them always run.
   */
  readonly objects?: readonly (ApiObject | Unstructured)[];
  /**
   * Additional controllers to run as `user` until the server stops; `graceMs` (default 30 s) applies to them as to
   * requests.
   */
  readonly runnables?: readonly Runnable[];
  /**
   * The identity of `runnables` and `webhooks` instead of `user`: a ServiceAccount among the objects, with the
   * permissions of its roles. Its name is the field manager of their writes.
   */
  readonly runAs?: AccountKey;
  /**
   * Called with each 403 response to the account of `runAs` and to accounts with a `kubeconfig`, except for terminating
   * namespaces. By default `client` and `stop()` then fail with AccountRefused.
   */
  readonly onRefused?: (refusal: ApiError) => void;
  /**
   * Webhooks by path, served before `objects` are created: a `clientConfig` in these that names a service and one of
   * the paths is redirected to them. They act as `user`, or as `runAs`.
   */
  readonly webhooks?: Readonly<Record<string, Webhook>>;
  /**
   * Whether UIDs and suffixes of generated names are the same in every run, derived from kind, namespace and name: for
   * snapshots, together with a clock that stands still. They are random by default.
   */
  readonly stableIds?: boolean;
  /**
   * Field validation of `client`, the runnables and the webhooks; `Strict` by default, so that a test fails on a
   * misspelt field.
   */
  readonly fieldValidation?: FieldValidation | undefined;
}

/** Creates keys, requests and certificate authorities in one call each. */
export interface TestCertificates {
  readonly key: typeof testKey;
  readonly request: typeof testRequest;
  readonly signingRequest: typeof testSigningRequest;
  readonly podRequest: typeof testPodRequest;
  readonly authority: typeof testAuthority;
}

/** A server for one test. Leaves nothing behind when stopped. */
export interface TestServer {
  readonly server: Server;
  /**
   * The API as `user`. Once a runnable has failed, calls and waits fail with its error; once a request of an account
   * was refused, with AccountRefused (see `onRefused`).
   */
  readonly client: Client;
  readonly user: UserInfo;
  readonly certificates: TestCertificates;
  /**
   * Returns a kubeconfig of a ServiceAccount as YAML, for a program that runs as this account. Requires `listen`. Fails
   * with an Error if there is no such account.
   */
  kubeconfig(account: AccountKey): Promise<string>;
  /** Ends every open watch, as a server does when its time is up: clients resume where they were. */
  endWatches(): void;
  /**
   * Compacts the history, and ends every open watch with 410 Expired: clients cannot use a `resourceVersion` or
   * `continue` that they have, and must list again. Fails with an Error if the store does not support it.
   */
  compact(): Promise<void>;
  /**
   * Ends watches and controllers. Fails with the error of one that failed or did not end within `graceMs`, and with
   * AccountRefused, which lists all refusals. Idempotent.
   */
  stop(): Promise<void>;
  /**
   * Supports `await using`, if the language has it. Like `stop`, but does not fail with an error that a call of
   * `client` has already failed with: the SuppressedError of a test that fails twice would hide both.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

const testAdmin: UserInfo = { username: 'test-admin', groups: [wellKnown.masters, wellKnown.authenticated] };
const certificates: TestCertificates = {
  key: testKey,
  request: testRequest,
  signingRequest: testSigningRequest,
  podRequest: testPodRequest,
  authority: testAuthority,
};

/**
 * Starts a server with everything in memory unless `store` is given, and without a port unless `listen` is given. It
 * runs the built-in controllers as any server does; `controllers: []` runs none, so that a definition created later is
 * served only with `['crd-names', 'crd-established', 'crd-finalizer']`. Time is real unless `clock` is given.
 */
export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { user = testAdmin, objects = [], runnables = [], runAs, onRefused, webhooks, ...others } = options;
  const { fieldValidation = 'Strict', onWarning, stableIds: isStable = false, ...rest } = others;
  const { controllers, clock = systemClock, graceMs } = options;
  const failures = new ReportedFailures();
  const log = failures.recordingLogger(options.log ?? silentLogger);
  const more = Array.isArray(controllers) ? { controllers: [...controllers, ...controllersFor(objects)] } : {};
  const failed = new AbortController();
  // Every watch of a test adds a listener.
  setMaxListeners(0, failed.signal);
  const watches = new OpenWatches();
  const refusals = new Refusals(onRefused ?? (({ message }) => failed.abort(new AccountRefused(message))));
  const { server, store, clientOf } = await openServer(
    { ...rest, ...more, store: options.store ?? 'memory:' },
    { answers: (handle) => watches.answers(refusals.answers(handle)), ids: isStable ? stableIds() : undefined },
  );
  const asking = { fieldValidation, onWarning };
  const userClient = server.client(user, asking);
  const admin = server.client(testAdmin, asking);
  const actorOf = (uid?: string): Client =>
    runAs === undefined
      ? userClient
      : clientOf(serviceAccountUser(runAs.namespace, runAs.name, uid), runAs.name, asking);
  const acting = { webhooks, objects, runnables, graceMs, runAs, refusals, admin, clientOf: actorOf, clock, log };
  const actors = await startActors(acting).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  actors.running.catch((error: unknown) => failed.abort(error));
  let isTold = false;
  const ending = clientUntil(failed.signal, userClient, () => {
    isTold = true;
  });
  const stop = once(async () => {
    try {
      await actors.stop();
    } finally {
      await server.stop();
    }
    if (onRefused === undefined && refusals.all !== undefined) throw refusals.all;
  });
  return {
    server,
    client: failures.attachTo(ending),
    user,
    certificates,
    async kubeconfig(account) {
      const text = await accountKubeconfig(admin, account, server);
      refusals.watch(account);
      return text;
    },
    endWatches: () => watches.end(),
    async compact() {
      await compactStore(store);
      watches.expire();
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop().catch((error: unknown) => {
        const isSame = error === failed.signal.reason || error instanceof AccountRefused;
        if (!(isTold && isSame)) throw error;
      });
    },
  };
}
