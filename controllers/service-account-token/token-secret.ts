import {
  type Secret,
  secretTypes,
  serviceAccountNameAnnotation,
  serviceAccountUidAnnotation,
} from '../../src/api/kinds/secret.js';
import type { ServiceAccount } from '../../src/api/kinds/service-account.js';

export const isTokenSecret = ({ type }: Secret): boolean => type === secretTypes.serviceAccountToken;

/** Name of the account that a Secret holds a token of; empty if it says none. */
export const accountOf = ({ metadata }: Secret): string => metadata.annotations?.[serviceAccountNameAnnotation] ?? '';

/** Is it for this very account, not for a former one of the same name? A Secret without a uid is for whoever is there. */
export function isFor(secret: Secret, account: ServiceAccount): boolean {
  const uid = secret.metadata.annotations?.[serviceAccountUidAnnotation] ?? '';
  return accountOf(secret) === account.metadata.name && (uid === '' || uid === account.metadata.uid);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What is missing or wrong of token, CA, namespace and annotations; the rest of the Secret is kept. */
export interface Filling {
  readonly rootCa: string;
  readonly mint: () => Promise<string>;
}

/** The Secret filled; undefined if nothing is missing. A token is minted only if there is none. */
export async function filled(secret: Secret, account: ServiceAccount, filling: Filling): Promise<Secret | undefined> {
  const { metadata, data = {} } = secret;
  const uid = account.metadata.uid ?? '';
  const ca = filling.rootCa === '' ? {} : { 'ca.crt': base64(filling.rootCa) };
  const isComplete =
    data['token'] !== undefined &&
    data['token'] !== '' &&
    (filling.rootCa === '' || data['ca.crt'] === ca['ca.crt']) &&
    data['namespace'] === base64(metadata.namespace ?? '') &&
    metadata.annotations?.[serviceAccountUidAnnotation] === uid;
  if (isComplete) return undefined;
  return {
    ...secret,
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [serviceAccountNameAnnotation]: account.metadata.name ?? '',
        [serviceAccountUidAnnotation]: uid,
      },
    },
    data: {
      ...data,
      ...ca,
      namespace: base64(metadata.namespace ?? ''),
      token: data['token'] || base64(await filling.mint()),
    },
  };
}
