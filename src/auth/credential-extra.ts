import type { Domains } from '../api/domains.js';

/** Returns the keys of a user's `extra` that identify the credential. */
export const credentialExtra = ({ signer }: Pick<Domains, 'signer'>) =>
  ({
    credentialId: `authentication.${signer}/credential-id`,
    podName: `authentication.${signer}/pod-name`,
    podUid: `authentication.${signer}/pod-uid`,
    nodeName: `authentication.${signer}/node-name`,
    nodeUid: `authentication.${signer}/node-uid`,
  }) as const;

/** Returns an `extra` with one value for each key, without empty values. */
export const extraOf = (
  values: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value ? [[key, [value]]] : [])));
