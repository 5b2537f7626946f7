import { readFileSync, writeFileSync } from 'node:fs';

/** Returns a copy of a kubeconfig with other credentials. `user` is the contents of its user entry. */
export function kubeconfigAs(
  path: string,
  like: string,
  user: { readonly token: string } | { readonly 'client-certificate-data': string; readonly 'client-key-data': string },
): string {
  const text = readFileSync(like, 'utf8');
  const field = (name: string): string => {
    const [, value] = new RegExp(`${name}: (\\S+)`).exec(text) ?? [];
    if (value === undefined) throw new Error(`${like} has no ${name}`);
    return value;
  };
  const cluster = { server: field('server'), 'certificate-authority-data': field('certificate-authority-data') };
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'kedge', cluster }],
    users: [{ name: 'somebody', user }],
    contexts: [{ name: 'kedge', context: { cluster: 'kedge', user: 'somebody' } }],
    'current-context': 'kedge',
  };
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
  return path;
}
