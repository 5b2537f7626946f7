import { type CertificateAuthority, type Client, createManager, type Logger } from 'kedge';
import { csrSigners, trustBundlePublisher, trustSources } from 'kedge/controllers';
import { ciSigner } from './ci-signer.ts';

/** Signs approved requests and keeps the CA published, until the signal aborts. */
export async function runCiSigner(options: {
  readonly client: Client;
  readonly ca: CertificateAuthority;
  readonly log?: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const signers = [ciSigner(options.ca)];
  await createManager({ client: options.client, log: options.log })
    .add(...csrSigners({ signers }), trustBundlePublisher({ sources: trustSources(signers) }))
    .run(options.signal);
}
