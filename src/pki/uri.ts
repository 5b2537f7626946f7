import { parseGoUrl } from '../api/go-url.js';

/**
 * Whether a text is a domain name: printable ASCII in non-empty labels, without a trailing dot; an empty name is
 * accepted.
 */
export function isDomainName(text: string, { constraint }: { readonly constraint: boolean }): boolean {
  if (text === '') return true;
  const name = constraint && text.startsWith('.') ? text.slice(1) : text;
  return /^[!-~]+$/.test(name) && name.split('.').every((part) => part !== '');
}

/** Returns Go's error text for a URI among alternative names; undefined if it is valid. */
export function uriProblem(text: string): string | undefined {
  const url = parseGoUrl(text);
  if ('wrong' in url) return url.wrong;
  return isDomainName(url.host, { constraint: false }) ? undefined : 'invalid domain';
}
