import type { HttpTransport } from '../client/http-transport.js';
import { prefixErrors } from '../runtime/text-source.js';

/**
 * Returns a connection to the server of a kubeconfig that an option names. Fails with an error that names the option if
 * the kubeconfig cannot be used.
 */
export async function kubeconfigTransport(option: string, kubeconfig: string): Promise<HttpTransport> {
  const [{ findAccess }, { httpTransport }] = await Promise.all([
    import('../client/remote-client.js'),
    import('../client/http-transport.js'),
  ]);
  const access = await prefixErrors(option, () => findAccess({ kubeconfig }));
  return httpTransport(access, 'kedge');
}
