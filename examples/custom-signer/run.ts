import { type CertificateAuthority, type Client, createManager, type Logger } from 'kedge';
import { builtinControllers } from 'kedge/controllers';
import { ciSigner } from './ci-signer.ts';

/** The two controllers that a signer needs around it: one asks it, one publishes its CA. */
const needed: readonly string[] = ['csr-signer', 'trust-bundle-publisher'];

/** Signs approved requests and keeps the CA published, until the signal aborts. */
export async function runCiSigner(given: {
  readonly client: Client;
  readonly ca: CertificateAuthority;
  readonly log?: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const controllers = builtinControllers({ signers: [ciSigner(given.ca)] });
  await createManager({ client: given.client, log: given.log })
    .add(...controllers.filter(({ name }) => needed.includes(name)))
    .run(given.signal);
}
