import type { Domains } from '../api/domains.js';
import { wellKnownSigners } from '../api/kinds/certificate-signing-request.js';
import type { CertificateAuthority } from '../pki/certificate-authority.js';
import type { Signer } from '../pki/signer.js';
import { openCaFiles } from '../pki/signers/ca-files.js';
import { caSigner } from '../pki/signers/ca-signer.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';

/** The well-known signers, under all their names, with one CA; and those of the user. */
export async function openSigners(given: {
  readonly ca: CertificateAuthority;
  readonly caFiles?: { readonly certificateFile: string; readonly keyFile: string } | undefined;
  readonly maxSeconds?: number | undefined;
  readonly own: readonly Signer[];
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): Promise<readonly Signer[]> {
  const { domains, clock, log, signal } = given;
  let authority = (): CertificateAuthority => given.ca;
  if (given.caFiles !== undefined) {
    const files = await openCaFiles({ ...given.caFiles, clock, log });
    authority = () => files.current();
    void files.watch(signal);
  }
  const names = Object.values(wellKnownSigners(domains)).flat();
  return [
    ...names.map((serves) =>
      caSigner({
        serves,
        authority,
        domains,
        ...(given.maxSeconds === undefined ? {} : { maxSeconds: given.maxSeconds }),
      }),
    ),
    ...given.own,
  ];
}
