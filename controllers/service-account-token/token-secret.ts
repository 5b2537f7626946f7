import { type Domains, signerKeyIn } from '../../src/api/domains.js';
import {
  type Secret,
  secretTypes,
  serviceAccountNameAnnotation,
  serviceAccountUidAnnotation,
} from '../../src/api/kinds/secret.js';
import type { ServiceAccount } from '../../src/api/kinds/service-account.js';

/** The type and annotations of Secrets with tokens, under the signer domain. */
export interface TokenMarks {
  readonly type: string;
  /** The annotations with the account's name and uid. */
  readonly account: string;
  readonly uid: string;
}

export const tokenMarks = (domains: Domains): TokenMarks => ({
  type: signerKeyIn(domains, secretTypes.serviceAccountToken),
  account: signerKeyIn(domains, serviceAccountNameAnnotation),
  uid: signerKeyIn(domains, serviceAccountUidAnnotation),
});

/** Returns the name of the account whose token a Secret holds; empty if it has none. */
export const accountOf = ({ metadata }: Secret, marks: TokenMarks): string =>
  metadata.annotations?.[marks.account] ?? '';

/**
 * Whether the Secret belongs to this account, and not to a former one of the same name. Without a uid it belongs to any
 * account of the name.
 */
export function belongsTo(secret: Secret, account: ServiceAccount, marks: TokenMarks): boolean {
  const uid = secret.metadata.annotations?.[marks.uid] ?? '';
  return accountOf(secret, marks) === account.metadata.name && (uid === '' || uid === account.metadata.uid);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The values to fill in; the rest of the Secret is kept. */
export interface FillOptions {
  readonly marks: TokenMarks;
  readonly rootCa: string;
  readonly mint: () => Promise<string>;
}

/**
 * Returns the Secret with token, CA, namespace and annotations; undefined if it has a token, the CA and some namespace
 * already. A token is minted only if there is none; missing annotations alone are no reason to write.
 */
export async function fillTokenSecret(
  secret: Secret,
  account: ServiceAccount,
  filling: FillOptions,
): Promise<Secret | undefined> {
  const { metadata, data = {} } = secret;
  const ca = filling.rootCa === '' ? {} : { 'ca.crt': base64(filling.rootCa) };
  const isComplete =
    Boolean(data['token'] && data['namespace']) && (filling.rootCa === '' || data['ca.crt'] === ca['ca.crt']);
  if (isComplete) return undefined;
  return {
    ...secret,
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [filling.marks.account]: account.metadata.name ?? '',
        [filling.marks.uid]: account.metadata.uid ?? '',
      },
    },
    data: {
      ...data,
      ...ca,
      namespace: data['namespace'] || base64(metadata.namespace ?? ''),
      token: data['token'] || base64(await filling.mint()),
    },
  };
}
