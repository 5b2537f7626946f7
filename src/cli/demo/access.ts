import { type ClientCredentials, fixedCredentials } from '../../client/cluster-access.js';
import { httpClient, type RemoteClient } from '../../client/http-client.js';
import { findAccess } from '../../client/remote-client.js';

/** One server, with clients for different users. */
export interface Access {
  readonly server: string;
  /** The client with the credentials of the kubeconfig. */
  readonly admin: RemoteClient;
  as(credentials: ClientCredentials): RemoteClient;
  /** Closes every client. */
  close(): void;
}

/** Opens the server of a kubeconfig. Fails with AccessError if the kubeconfig cannot be used. */
export async function openAccess(kubeconfig: string): Promise<Access> {
  const access = await findAccess({ kubeconfig });
  const options = { userAgent: 'kedge-demo' };
  const admin = httpClient(access, options);
  const clients = [admin];
  return {
    server: access.server,
    admin,
    as(credentials) {
      const client = httpClient({ ...access, credentials: fixedCredentials(credentials) }, options);
      clients.push(client);
      return client;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}
