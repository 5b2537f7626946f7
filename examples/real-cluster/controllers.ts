import { type ConnectOptions, connect, createManager, type Logger, type Signer } from 'kedge';
import { csrSigners, trustBundlePublisher, trustSources } from 'kedge/controllers';
import { teamAccess } from '../custom-controller/team-access.ts';

export interface RunOptions extends ConnectOptions {
  readonly signers: readonly Signer[];
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Runs signers, the publisher of their anchors and a custom controller against the cluster of a kubeconfig. Of the
 * built-in controllers, only those are needed that a Kubernetes cluster does not have itself.
 */
export async function runControllers({ signers, log, signal, ...access }: RunOptions): Promise<void> {
  const client = await connect(access);
  await createManager({ client, log })
    .add(...csrSigners({ signers }), trustBundlePublisher({ sources: trustSources(signers) }), teamAccess)
    .run(signal)
    .finally(() => client.close());
}
