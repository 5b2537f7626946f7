import type { Query } from '../../api/options.js';
import type { ApiRequest, RequestInfo } from '../request.js';

/** Returns the labels of requests in metrics, which have few values whatever a request contains. */

const resourceVerbs = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
]);
const pathVerbs = new Map([
  ['GET', 'GET'],
  ['HEAD', 'GET'],
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method): [string, string] => [method, method]),
]);

/** Returns the verb of a request as the metrics name it. */
export function verbOf(request: Pick<ApiRequest, 'info' | 'method' | 'header'>): string {
  const { isResource, verb } = request.info;
  if (!isResource) return pathVerbs.get(request.method) ?? 'other';
  if (verb === 'patch' && request.header('content-type') === 'application/apply-patch+yaml') return 'APPLY';
  return resourceVerbs.get(verb) ?? 'other';
}

const collectionVerbs = new Set(['list', 'watch', 'deletecollection']);

/** Returns the scope of a request: one object, a namespace or the cluster. */
export function scopeOf({ isResource, verb, namespace, name }: RequestInfo): string {
  if (!isResource) return '';
  if (!collectionVerbs.has(verb) && (name !== '' || verb === 'create')) return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

/** Returns `All` for a dry run, `invalid` for any other value. */
export function dryRunOf(query: Query): string {
  const values = query.all('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}

const paths = new Set([
  '/api',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/readyz',
  '/version',
]);

/** Returns the fixed part of a path; "" for unknown paths. */
export function knownPath(path: string): string {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (paths.has(trimmed)) return trimmed;
  const root = /^\/(?:openapi\/v3|apis?|healthz|livez|readyz)(?=\/)/.exec(trimmed)?.[0];
  return root !== undefined && paths.has(root) ? root : '';
}

const namedUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);
/** Returns the kind of a username: the usernames themselves are private, and too many. */
export function userSort(username: string): string {
  if (namedUsers.has(username)) return username;
  return username.includes('@') ? 'email_id' : 'other';
}
