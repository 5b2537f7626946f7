import type { Domains } from '../api/domains.js';
import type { UserInfo } from '../api/user.js';
import { type BuiltinController, controllerAccounts, controllerUser } from '../auth/bootstrap/controller-roles.js';
import type { TokenIssuer } from '../auth/token-issuer.js';
import type { Client } from '../client/client.js';
import { createManager } from '../controller/manager.js';
import type { Signer } from '../pki/signer.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { builtinControllers } from '../../controllers/index.js';

export interface ControllersToRun {
  readonly names: 'all' | readonly string[];
  clientOf(user: UserInfo, agent: string): Client;
  readonly signers: readonly Signer[];
  /** PEM */
  readonly rootCa: string;
  readonly issuer: TokenIssuer;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const known = Object.keys(controllerAccounts) as readonly BuiltinController[];
const isKnown = (name: string): name is BuiltinController => known.some((one) => one === name);

/** Fails with one sentence if there is no controller of a name. */
export function checkControllerNames(names: 'all' | readonly string[]): void {
  const wrong = names === 'all' ? undefined : names.find((name) => !isKnown(name));
  if (wrong !== undefined) throw new Error(`there is no controller ${JSON.stringify(wrong)}; there are ${known.join(', ')}`);
}

/** Runs the built-in controllers in this process, each as its own service account. Resolves once all have stopped. */
export async function startControllers(given: ControllersToRun): Promise<void> {
  const { names, log, clock, domains, signers, issuer } = given;
  const wanted = builtinControllers({
    signers,
    rootCa: () => given.rootCa,
    domains,
    mintToken: async ({ metadata }, secret) =>
      issuer.issueForSecret({
        namespace: metadata.namespace ?? '',
        secretName: secret.metadata.name ?? '',
        accountName: metadata.name ?? '',
        accountUid: metadata.uid ?? '',
      }),
  }).filter(({ name }) => names === 'all' || names.includes(name));
  if (wanted.length === 0) return;
  const clients = new Map<string, Client>();
  const client = (name: string): Client => {
    const before = clients.get(name);
    if (before !== undefined) return before;
    if (!isKnown(name)) throw new Error(`controller ${name} has no account`);
    const made = given.clientOf(controllerUser(name), name);
    clients.set(name, made);
    return made;
  };
  await createManager({ client, log, clock })
    .add(...wanted)
    .run(given.signal);
}
