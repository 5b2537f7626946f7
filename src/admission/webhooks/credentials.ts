import type { CredentialSource } from '../../client/cluster-access.js';

/** Returns the credentials that are presented to a webhook, if any, by its authority: `host[:port]`. */
export type WebhookCredentials = (authority: string) => CredentialSource | undefined;

const usualPort = '443';

/**
 * Returns credentials from the users of a kubeconfig, which are chosen as in kube-apiserver: the user with the name of
 * the webhook (`name.namespace.svc` or `host:port`), then one with a matching pattern (`*.example.org`), each first
 * with the port and then, for port 443, without it; then the user `*`, and last the user of the current context.
 */
export function credentialsByName(users: {
  readonly byName: ReadonlyMap<string, CredentialSource>;
  readonly current: CredentialSource | undefined;
}): WebhookCredentials {
  const { byName, current } = users;
  return (authority) => {
    const [, host = authority, port = usualPort] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? [];
    const bare = host.replace(/^\[(.*)\]$/, '$1');
    const names = [`${host}:${port}`, ...(port === usualPort ? [bare] : [])].flatMap(withPatterns);
    const name = [...names, '*'].find((one) => byName.has(one));
    return name === undefined ? current : byName.get(name);
  };
}

/** The maximum length of a host and port. */
const longestName = 253 + ':65535'.length;

/** Returns a name and the patterns that match it: `a.b.c`, `*.b.c`, `*.c`. */
function withPatterns(name: string): readonly string[] {
  if (name.length > longestName) return [name];
  const parts = name.split('.');
  return [name, ...parts.slice(1).map((_, at) => `*.${parts.slice(at + 1).join('.')}`)];
}
