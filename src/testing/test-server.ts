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

/** As of any server, and what a test wants to be there, to run, or to be told. */
export interface TestServerOptions extends Omit<ServerOptions, 'store' | 'dataDir'>, ClientOptions {
  /** Default: a new one in memory. With one of your own a test decides how much history there is, and what fails. */
  readonly store?: string | Store;
  /** Who `client` is. Default: `test-admin`, who may do everything. */
  readonly user?: UserInfo;
  /**
   * What is there from the start, such as what `readManifests` read; created by an administrator before `runnables` run:
   * definitions first, until they are served, then namespaces, then the others in their order. With definitions the
   * controllers that serve them run in any case.
   */
  readonly objects?: readonly (ApiObject | Unstructured)[];
  /** Further controllers to run, as `user`, until the server stops; `graceMs` (default 30 s) is for them as for requests. */
  readonly runnables?: readonly Runnable[];
  /**
   * Who `runnables` and `webhooks` are instead of `user`: a ServiceAccount that is among the objects, and may do what its
   * roles say. What they write has its name as field manager.
   */
  readonly runAs?: AccountKey;
  /**
   * Told each answer 403 to the account of `runAs`, and to those that have a `kubeconfig`, except that a namespace is being
   * deleted. Default: `client` and `stop()` fail with AccountRefused.
   */
  readonly onRefused?: (refusal: ApiError) => void;
  /**
   * Webhooks by their paths, served from before `objects` are created: a `clientConfig` in these that names a service and
   * one of the paths is changed to call them. They act as `user`, or as `runAs`.
   */
  readonly webhooks?: Readonly<Record<string, Webhook>>;
  /**
   * Uids and the ends of generated names are the same in every run, made of kind, namespace and name. For snapshots, with a
   * clock that stands still. Default: at random.
   */
  readonly stableIds?: boolean;
  /** Of `client`, the runnables and the webhooks. Default `Strict`: a test fails where a field is misspelt. */
  readonly fieldValidation?: FieldValidation | undefined;
}

/** Keys, requests and authorities in one call each. */
export interface TestCertificates {
  readonly key: typeof testKey;
  readonly request: typeof testRequest;
  readonly signingRequest: typeof testSigningRequest;
  readonly podRequest: typeof testPodRequest;
  readonly authority: typeof testAuthority;
}

/** A server of one test. Leaves nothing behind when it has stopped. */
export interface TestServer {
  readonly server: Server;
  /**
   * The API as `user`. Once a runnable failed its calls fail with that error, and so does who waits by it; once an account was
   * refused something, with AccountRefused (see `onRefused`).
   */
  readonly client: Client;
  readonly user: UserInfo;
  readonly certificates: TestCertificates;
  /**
   * A kubeconfig of a ServiceAccount, as YAML, for a program that is run as this account. Needs `listen`. Fails with an
   * Error if there is no such account.
   */
  kubeconfig(account: AccountKey): Promise<string>;
  /** Ends every open watch, as a server does when its time is up: who watches asks again from where they were. */
  endWatches(): void;
  /**
   * Forgets the history, and ends every open watch with 410 Expired: nobody can go on from a `resourceVersion` or a `continue`
   * that they have, and who watches has to list again. Fails with an Error if the store cannot.
   */
  compact(): Promise<void>;
  /**
   * Ends watches and controllers; fails with the error of one that failed, or did not end in `graceMs`, and with
   * AccountRefused, which tells all that was refused. Idempotent.
   */
  stop(): Promise<void>;
  /**
   * For `await using`, where the language has it. As `stop`, but does not fail with what a call of `client` has failed with
   * already: of a test that fails twice a SuppressedError tells, which hides both.
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
 * Starts a server with everything in memory, unless it is given a store, and no port, unless `listen` is given. It runs the
 * built-in controllers as any server does; `controllers: []` runs none, so that a definition that is created later is served only with
 * `['crd-names', 'crd-established', 'crd-finalizer']`. Time is real unless `clock` says otherwise.
 */
export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { user = testAdmin, objects = [], runnables = [], runAs, onRefused, webhooks, ...others } = options;
  const { fieldValidation = 'Strict', onWarning, stableIds: isStable = false, ...rest } = others;
  const { controllers, clock = systemClock, graceMs } = options;
  const failures = new ReportedFailures();
  const log = failures.recordingLogger(options.log ?? silentLogger);
  const more = Array.isArray(controllers) ? { controllers: [...controllers, ...controllersFor(objects)] } : {};
  const failed = new AbortController();
  // Every watch of a test listens.
  setMaxListeners(0, failed.signal);
  const watches = new OpenWatches();
  const refusals = new Refusals(onRefused ?? (({ message }) => failed.abort(new AccountRefused(message))));
  const { server, store, clientOf } = await openServer(
    { ...rest, ...more, store: options.store ?? 'memory:' },
    { answers: (handle) => watches.answers(refusals.answers(handle)), ids: isStable ? stableIds() : undefined },
  );
  const asking = { fieldValidation, onWarning };
  const mine = server.client(user, asking);
  const admin = server.client(testAdmin, asking);
  const actorOf = (uid?: string): Client =>
    runAs === undefined ? mine : clientOf(serviceAccountUser(runAs.namespace, runAs.name, uid), runAs.name, asking);
  const acting = { webhooks, objects, runnables, graceMs, runAs, refusals, admin, clientOf: actorOf, clock, log };
  const actors = await startActors(acting).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  actors.running.catch((error: unknown) => failed.abort(error));
  let isTold = false;
  const ending = clientUntil(failed.signal, mine, () => {
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
