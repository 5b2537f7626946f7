import { ClusterRoles, Roles } from '../api/kinds/role.js';
import { ClusterRoleBindings, RoleBindings } from '../api/kinds/role-binding.js';
import { messageOf } from '../api/message-of.js';
import type { ResourceType } from '../api/object.js';
import type { HealthCheck } from '../apiserver/health.js';
import type { ObjectSource } from '../auth/object-source.js';
import { TimeoutError, withTimeout } from '../runtime/abort.js';
import type { Clock } from '../runtime/clock.js';
import type { Store } from '../store/store.js';

/** The time within which a healthy store answers the smallest read, in milliseconds. */
const patienceMs = 2_000;

/** Returns the health checks of the server, under Kubernetes' names. */
export function healthChecks(server: {
  readonly store: Store;
  readonly objects: ObjectSource;
  readonly clock: Clock;
  /** Aborted when a stopping server has answered its last request. */
  readonly signal: AbortSignal;
  /** Returns why the key services of the store do not work; absent if nothing is encrypted. */
  keyServices?(): string | undefined;
  /** Whether the objects that every server starts with exist. */
  bootstrapped(): boolean;
  /** Whether the server is stopping. */
  stopping(): boolean;
}): readonly HealthCheck[] {
  const { store, objects, clock, signal } = server;
  const soon = (work: () => Promise<unknown>): Promise<string | undefined> =>
    withTimeout({ clock, milliseconds: patienceMs, signals: [signal] }, work).then(
      () => undefined,
      (error: unknown) => (error instanceof TimeoutError ? 'context deadline exceeded' : messageOf(error)),
    );
  const readStore = async (): Promise<string | undefined> => {
    const wrong = await soon(() => store.get('health'));
    return wrong === undefined ? undefined : `error getting data from etcd: ${wrong}`;
  };
  const readCaches = async (): Promise<string | undefined> => {
    const types: readonly ResourceType[] = [ClusterRoles, ClusterRoleBindings, Roles, RoleBindings];
    const wrong = await Promise.all(types.map((type) => soon(async () => objects.list(type))));
    const missing = types.filter((_, at) => wrong[at] !== undefined).map(({ kind }) => kind);
    return missing.length === 0 ? undefined : `${missing.length} informers not started yet: [${missing.join(' ')}]`;
  };
  return [
    { name: 'ping', check: async () => undefined },
    { name: 'log', check: async () => undefined },
    { name: 'etcd', check: readStore },
    { name: 'etcd-readiness', onlyReady: true, check: readStore },
    { name: 'informer-sync', onlyReady: true, check: readCaches },
    ...(server.keyServices === undefined ? [] : [{ name: 'kms-providers', check: async () => server.keyServices?.() }]),
    { name: 'poststarthook/bootstrap', check: async () => (server.bootstrapped() ? undefined : 'not finished') },
    {
      name: 'shutdown',
      onlyReady: true,
      check: async () => (server.stopping() ? 'process is shutting down' : undefined),
    },
  ];
}
