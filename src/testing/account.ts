import { type ServiceAccount, ServiceAccounts } from '../api/kinds/service-account.js';
import type { TokenRequest } from '../api/kinds/token-request.js';
import { keyText } from '../api/object.js';
import type { Client } from '../client/client.js';

/** Names a ServiceAccount. */
export interface AccountKey {
  readonly namespace: string;
  readonly name: string;
}

/** The account. Fails with an Error if there is none. */
export async function findAccount(client: Client, key: AccountKey): Promise<ServiceAccount> {
  const account = await client.resource(ServiceAccounts).get(key);
  if (account === undefined) throw new Error(`there is no ServiceAccount ${keyText(key)}`);
  return account;
}

/** Longer than what a test plays. */
const tokenSeconds = 365 * 86_400;

/** A token of an account. Fails as `findAccount`. */
export async function accountToken(client: Client, key: AccountKey): Promise<string> {
  await findAccount(client, key);
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: { expirationSeconds: tokenSeconds },
  };
  const tokens = client.resource(ServiceAccounts).subresource<TokenRequest>('token');
  return (await tokens.create(key, request)).status?.token ?? '';
}
