import { type BuiltinControllerOptions, builtinControllers } from '../../controllers/index.js';
import type { Domains } from '../api/domains.js';
import type { UserInfo } from '../api/user.js';
import { controllerNamespace, controllerUser } from '../auth/bootstrap/controller-roles.js';
import type { TokenIssuer } from '../auth/token-issuer.js';
import type { Client } from '../client/client.js';
import type { Runnable } from '../controller/controller.js';
import type { ControllerMetrics } from '../controller/controller-metrics.js';
import { whileLeading } from '../controller/leader.js';
import { createManager } from '../controller/manager.js';
import type { Signer } from '../pki/signer.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { controllerNameProblem, isControllerName } from './controller-names.js';

export interface RunControllersOptions {
  readonly names: 'all' | readonly string[];
  clientOf(user: UserInfo, agent: string): Client;
  /** Whether other servers may run the same controllers with the same store. */
  readonly takesTurns: boolean;
  /** The client that holds the lease for leader election. */
  readonly leaderClient: Client;
  readonly signers: readonly Signer[];
  readonly certificates: Pick<
    BuiltinControllerOptions,
    'certificatePolicy' | 'rotatedCas' | 'trust' | 'certificateLedger' | 'onIssued' | 'onOutcome' | 'onRotation'
  >;
  /** Returns the CAs in PEM by which clients verify the server. */
  rootCa(): string;
  readonly issuer: TokenIssuer;
  readonly customResources: NonNullable<BuiltinControllerOptions['customResources']>;
  readonly checkPolicy: NonNullable<BuiltinControllerOptions['checkPolicy']>;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: ControllerMetrics | undefined;
  readonly signal: AbortSignal;
}

/** Throws an Error of one sentence if one of the names is not that of a controller. */
export function checkControllerNames(names: 'all' | readonly string[]): void {
  const problem = names === 'all' ? undefined : controllerNameProblem(names);
  if (problem !== undefined) throw new Error(problem);
}

/** The Lease by which servers with one store elect the one that runs the controllers. */
const lease = { namespace: controllerNamespace, name: 'kedge-controllers' };
const restartMs = 1_000;

/**
 * Returns a function that runs the built-in controllers in this process, each as its own service account, until the
 * signal aborts. If they stop before, this is logged, and they are started again. Throws if they cannot run as
 * configured.
 */
export function controllersToRun(options: RunControllersOptions): () => Promise<void> {
  // A server without controllers does not compete for the lease.
  return controllersOf(options).length === 0 ? async () => {} : () => runControllers(options);
}

async function runControllers(options: RunControllersOptions): Promise<void> {
  const { clock, log, metrics, signal } = options;
  const client = oncePerName((name) => {
    if (!isControllerName(name)) throw new Error(`controller ${name} has no service account`);
    return options.clientOf(controllerUser(name), name);
  });
  const start = (until: AbortSignal): Promise<void> =>
    createManager({ client, log, clock, metrics })
      .add(...controllersOf(options))
      .run(until);
  const alone: Runnable = { name: 'controllers', run: ({ signal: until }) => start(until) };
  while (!signal.aborted) {
    try {
      if (!options.takesTurns) return await start(signal);
      await createManager({ client: options.leaderClient, log, clock, metrics })
        .add(whileLeading({ lease }, alone))
        .run(signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error }, 'controllers stopped; starting them again');
      await clock.sleep(restartMs, signal);
    }
  }
}

function controllersOf({
  names,
  signers,
  certificates,
  domains,
  issuer,
  rootCa,
  customResources,
  checkPolicy,
  takesTurns,
}: RunControllersOptions): readonly Runnable[] {
  return builtinControllers({
    ...certificates,
    signers,
    rootCa,
    domains,
    customResources,
    checkPolicy,
    storeIsShared: takesTurns,
    mintToken: async ({ metadata }, secret) =>
      issuer.issueForSecret({
        namespace: metadata.namespace ?? '',
        secretName: secret.metadata.name ?? '',
        accountName: metadata.name ?? '',
        accountUid: metadata.uid ?? '',
      }),
  }).filter(({ name }) => names === 'all' || names.includes(name));
}

function oncePerName(make: (name: string) => Client): (name: string) => Client {
  const clients = new Map<string, Client>();
  return (name) => {
    const client = clients.get(name) ?? make(name);
    clients.set(name, client);
    return client;
  };
}
