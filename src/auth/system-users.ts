import { dnsLabel, dnsSubdomain } from '../api/names.js';

const accountPrefix = 'system:serviceaccount:';
const nodePrefix = 'system:node:';

/** The account a username stands for; undefined if it is anybody else's, or an incomplete one. */
export function serviceAccountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name, ...rest] = username.slice(accountPrefix.length).split(':');
  if (name === undefined || rest.length > 0) return undefined;
  return dnsLabel(namespace).length === 0 && dnsSubdomain(name).length === 0 ? { namespace, name } : undefined;
}

/** The node a username stands for; undefined if it is anybody else's. */
export function nodeOf(username: string): string | undefined {
  if (!username.startsWith(nodePrefix)) return undefined;
  const name = username.slice(nodePrefix.length);
  return dnsSubdomain(name).length === 0 ? name : undefined;
}
