import { type CertificateAuthority, type Client, createManager, type Logger } from 'kedge';
import { podCertificateSigners, trustBundlePublisher, trustSources } from 'kedge/controllers';
import { podSigner } from './pod-signer.ts';

/** Signs requests for pod certificates and keeps the CA published, until the signal aborts. */
export async function runPodSigner(given: {
  readonly client: Client;
  readonly ca: CertificateAuthority;
  readonly log?: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const signers = [podSigner(given.ca)];
  await createManager({ client: given.client, log: given.log })
    .add(...podCertificateSigners({ signers }), trustBundlePublisher({ sources: trustSources(signers) }))
    .run(given.signal);
}
