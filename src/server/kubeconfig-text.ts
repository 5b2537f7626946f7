/** A kubeconfig with one cluster and one user, everything inside it. */
export function kubeconfigText(given: {
  readonly url: string;
  /** PEM */
  readonly ca: string;
  readonly user: string;
  readonly credentials: { readonly certificate: string; readonly key: string } | { readonly token: string };
}): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { credentials } = given;
  const user =
    'token' in credentials
      ? [`    token: ${credentials.token}`]
      : [
          `    client-certificate-data: ${base64(credentials.certificate)}`,
          `    client-key-data: ${base64(credentials.key)}`,
        ];
  return `${[
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: kedge',
    '  cluster:',
    `    server: ${given.url}`,
    `    certificate-authority-data: ${base64(given.ca)}`,
    'users:',
    `- name: ${given.user}`,
    '  user:',
    ...user,
    'contexts:',
    '- name: kedge',
    '  context:',
    '    cluster: kedge',
    `    user: ${given.user}`,
    'current-context: kedge',
  ].join('\n')}\n`;
}
