import { type ServiceAccount, ServiceAccounts } from '../api/kinds/service-account.js';
import type { TokenRequest } from '../api/kinds/token-request.js';
import { keyText } from '../api/object.js';
import { serviceAccountUsername } from '../api/user.js';
import type { Client } from '../client/client.js';
import type { Server } from '../embed.js';
import { kubeconfigText } from '../server/kubeconfig-text.js';

/** Names a ServiceAccount. */
export interface AccountKey {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the account. Fails with an Error if there is none. */
export async function findAccount(client: Client, key: AccountKey): Promise<ServiceAccount> {
  const account = await client.resource(ServiceAccounts).get(key);
  if (account === undefined) throw new Error(`no ServiceAccount ${keyText(key)}`);
  return account;
}

/** The lifetime of tokens, longer than any time that a test simulates. */
const tokenSeconds = 365 * 86_400;

/**
 * Returns a kubeconfig for an account at a server that listens. Fails with an Error if there is no such account or no
 * port.
 */
export async function accountKubeconfig(
  client: Client,
  key: AccountKey,
  { url, ca }: Pick<Server, 'url' | 'ca'>,
): Promise<string> {
  if (url === undefined) throw new Error('a server that does not listen has no kubeconfig');
  const { namespace, name } = key;
  const token = await accountToken(client, key);
  return kubeconfigText({ url, ca, user: serviceAccountUsername(namespace, name), namespace, credentials: { token } });
}

async function accountToken(client: Client, key: AccountKey): Promise<string> {
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
