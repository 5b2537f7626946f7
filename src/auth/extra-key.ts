import { dnsSubdomain } from '../api/names.js';
import { invalid, required, type Violation } from '../api/violations.js';

const pathCharacters = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const pathPattern = new RegExp(`^${pathCharacters}$`);

/** Returns the violations in a key of a user's extra, which is `domain/path`. */
export function checkExtraKey(field: string, key: string): readonly Violation[] {
  if (key === '') return [required(field)];
  const slash = key.indexOf('/');
  const domain = key.slice(0, Math.max(slash, 0));
  const path = key.slice(slash + 1);
  if (domain === '' || path === '') {
    return [invalid(field, key, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  return [
    ...dnsSubdomain(domain).map((message) => invalid(field, domain, message)),
    ...(pathPattern.test(path)
      ? []
      : [invalid(field, path, `Invalid path (regex used for validation is '${pathCharacters}')`)]),
  ];
}
