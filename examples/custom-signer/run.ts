import { csrSigners } from '../../controllers/csr-signer/csr-signer.js';
import { trustBundlePublisher } from '../../controllers/trust-bundle-publisher/trust-bundle-publisher.js';
import type { Client } from '../../src/client/client.js';
import { createManager } from '../../src/controller/manager.js';
import type { CertificateAuthority } from '../../src/pki/certificate-authority.js';
import type { Logger } from '../../src/runtime/logger.js';
import { ciSigner } from './ci-signer.js';

/** Signs approved requests and keeps the CA published, until the signal aborts. */
export async function runCiSigner(given: {
  readonly client: Client;
  readonly ca: CertificateAuthority;
  readonly log?: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const signer = ciSigner(given.ca);
  await createManager({ client: given.client, log: given.log })
    .add(
      ...csrSigners({ signers: [signer] }),
      trustBundlePublisher({ sources: [{ signerName: signer.serves, anchors: async () => given.ca.anchors }] }),
    )
    .run(given.signal);
}
