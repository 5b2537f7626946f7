import querystring from 'node:querystring';
import { type Query, readBoolean, selectedName } from '../api/options.js';
import type { RequestInfo } from '../apiserver/request.js';

/** Parses method and URL of a request for authorization and routing. */

const none = {
  group: '',
  version: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  hasExtraSegments: false,
  namespaceIsEmpty: false,
  watchedByPath: false,
};

/** Thrown for a path that names neither a resource nor a fixed document: `/api/v1/watch` with nothing after it. */
export class UnroutablePath extends Error {
  override readonly name = 'UnroutablePath';
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const namespaceSubresources = new Set(['status', 'finalize']);

/** Parses a path as kube-apiserver's RequestInfoFactory does, without checking whether the resource exists. */
export function parseRequestInfo(method: string, path: string, query: Query): RequestInfo {
  const parts = segments(path);
  const grouped = parts[0] === 'apis';
  if (parts.length < (grouped ? 4 : 3) || (!grouped && parts[0] !== 'api')) {
    return { ...none, isResource: false, path, verb: method.toLowerCase() };
  }
  let at = grouped ? 3 : 2;
  let verb = verbs[method] ?? '';
  const special = parts[at];
  if (special === 'watch' || special === 'proxy') {
    verb = special;
    at++;
    if (at === parts.length) throw new UnroutablePath(path);
  }
  let namespace = '';
  const first = at;
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = parts[at + 1] ?? '';
    if (parts.length > at + 2 && !namespaceSubresources.has(parts[at + 2] ?? '')) at += 2;
  }
  const info: RequestInfo = {
    isResource: true,
    path,
    verb,
    group: grouped ? (parts[1] ?? '') : '',
    version: parts[grouped ? 2 : 1] ?? '',
    resource: parts[at] ?? '',
    // The path after the name in a proxy request is not part of the RequestInfo.
    subresource: special === 'proxy' ? '' : (parts[at + 2] ?? ''),
    namespace,
    name: parts[at + 1] ?? '',
    hasExtraSegments: parts.length > at + 3 || (at > first && parts[at] === 'namespaces'),
    namespaceIsEmpty: at > first && namespace === '',
    watchedByPath: special === 'watch',
  };
  return info.name === '' ? collection(info, query) : info;
}

/** Completes the info of a request without a name, which is about a collection. */
function collection(info: RequestInfo, query: Query): RequestInfo {
  if (info.verb === 'delete') return { ...info, ...selectorsIn(query), verb: 'deletecollection' };
  // Authorization of a watch path does not depend on its selectors.
  if (info.verb !== 'get') return info;
  const verb = readBoolean(query.get('watch')) ? 'watch' : 'list';
  return { ...info, ...selectorsIn(query), verb, name: selectedName(query) };
}

const selectorsIn = (query: Query): Pick<RequestInfo, 'fieldSelector' | 'labelSelector'> => ({
  fieldSelector: query.get('fieldSelector') || undefined,
  labelSelector: query.get('labelSelector') || undefined,
});

/** Returns the segments of a decoded path; empty ones at either end do not count. */
function segments(path: string): readonly string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path[start] === '/') start++;
  while (end > start && path[end - 1] === '/') end--;
  return start === end ? [] : path.slice(start, end).split('/');
}

const badEscape = /%(?![\dA-Fa-f]{2})/;
/** Matches the parameters that Go drops from a query: those with a semicolon or an invalid escape. */
const unreadable = new RegExp(`;|${badEscape.source}`);

/** Parses a query string, lazily and once. */
export function parseQuery(text: string): Query {
  if (text === '') return noQuery;
  let parameters: URLSearchParams | undefined;
  const read = (): URLSearchParams => {
    parameters ??= parametersIn(text);
    return parameters;
  };
  return { get: (name) => read().get(name) ?? undefined, all: (name) => read().getAll(name) };
}
const noQuery: Query = { get: () => undefined, all: () => [] };

function parametersIn(text: string): URLSearchParams {
  const pairs = text.split('&').filter((pair) => !unreadable.test(pair));
  // Without the `&`, a question mark at the beginning would not be part of the first name.
  return new URLSearchParams(`&${pairs.join('&')}`);
}

/** Thrown for a path with an invalid escape. */
export class UnreadablePath extends Error {
  override readonly name = 'UnreadablePath';
}

/**
 * Returns the percent-decoded path. Bytes that are not UTF-8 become replacement characters, and `%2F` is a separator
 * like any other.
 */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  if (badEscape.test(path)) throw new UnreadablePath(path);
  return querystring.unescape(path);
}
