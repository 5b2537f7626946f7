import type { HttpTransport } from '../client/http-transport.js';
import { prefixErrors } from '../runtime/text-source.js';

/**
 * Opens connections to the server of a kubeconfig that an option names. Fails, naming the option, if the kubeconfig
 * cannot be read.
 */
export async function kubeconfigTransport(option: string, kubeconfig: string): Promise<HttpTransport> {
  const [{ findAccess }, { httpTransport }] = await Promise.all([
    import('../client/remote-client.js'),
    import('../client/http-transport.js'),
  ]);
  const access = await prefixErrors(option, () => findAccess({ kubeconfig }));
  return httpTransport(access, 'kedge');
}
