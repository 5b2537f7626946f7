import { type CertificateAuthority, type Client, createManager, type Logger } from 'kedge';
import { podCertificateSigners, trustBundlePublisher, trustSources } from 'kedge/controllers';
import { podSigner } from './pod-signer.ts';

/** Signs requests for pod certificates and keeps the CA published, until the signal aborts. */
export async function runPodSigner(options: {
  readonly client: Client;
  readonly ca: CertificateAuthority;
  readonly log?: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const signers = [podSigner(options.ca)];
  await createManager({ client: options.client, log: options.log })
    .add(...podCertificateSigners({ signers }), trustBundlePublisher({ sources: trustSources(signers) }))
    .run(options.signal);
}
