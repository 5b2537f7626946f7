import { writeYaml } from '../api/yaml-writer.js';
import { labelledPrivateKeyPem, readPrivateKey } from '../pki/key-pair.js';

/** Returns a kubeconfig with one cluster and one user, which contains all data inline. */
export function kubeconfigText(options: {
  readonly url: string;
  /** The CA in PEM. */
  readonly ca: string;
  readonly user: string;
  /** The namespace of requests that name none. */
  readonly namespace?: string;
  readonly credentials: { readonly certificate: string; readonly key: string } | { readonly token: string };
}): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { url, ca, user, namespace, credentials } = options;
  const name = 'kedge';
  return writeYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: user,
        user:
          'token' in credentials
            ? credentials
            : {
                'client-certificate-data': base64(credentials.certificate),
                'client-key-data': base64(labelledPrivateKeyPem(readPrivateKey(credentials.key))),
              },
      },
    ],
    contexts: [{ name, context: { cluster: name, user, ...(namespace === undefined ? {} : { namespace }) } }],
    'current-context': name,
  });
}
