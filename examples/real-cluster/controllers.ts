import { type ConnectOptions, connect, createManager, type Logger, type Signer } from 'kedge';
import { builtinControllers } from 'kedge/controllers';
import { teamAccess } from '../custom-controller/team-access.ts';

/** Of the built-in controllers those that a Kubernetes cluster does not have itself. */
const ours: readonly string[] = ['csr-signer', 'trust-bundle-publisher'];

export interface RunOptions extends ConnectOptions {
  readonly signers: readonly Signer[];
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Runs signers, the publisher of their anchors and a controller of our own against the cluster of a kubeconfig. */
export async function runControllers({ signers, log, signal, ...access }: RunOptions): Promise<void> {
  const client = await connect(access);
  const controllers = builtinControllers({ signers }).filter(({ name }) => ours.includes(name));
  await createManager({ client, log })
    .add(...controllers, teamAccess)
    .run(signal)
    .finally(() => client.close());
}
