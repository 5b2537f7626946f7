import type { UserInfo } from '../api/user.js';
import type { Authorizer } from '../auth/authorizer.js';

/** The verbs of the virtual resource `signers`. */
export type SignerVerb = 'approve' | 'sign' | 'attest';

/**
 * Whether the user may use this verb on the signer: first the name of the signer is checked, then all signers of its
 * domain (`domain/*`, taken literally). An error of the authorizer counts as a denial.
 */
export async function isAuthorizedForSigner(
  authorizer: Authorizer,
  question: {
    readonly user: UserInfo;
    readonly verb: SignerVerb;
    readonly signerName: string;
    /** The API group of the certificate kinds. */
    readonly group: string;
  },
): Promise<boolean> {
  const { user, verb, signerName, group } = question;
  const [domain] = signerName.split('/', 1);
  for (const name of [signerName, `${domain}/*`]) {
    try {
      const { verdict } = await authorizer.authorize({ user, verb, group, version: '*', resource: 'signers', name });
      if (verdict === 'allow') return true;
    } catch {
      // The next check may still succeed. If none does, the request is refused.
    }
  }
  return false;
}
