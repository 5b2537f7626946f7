import type { Query } from '../../api/options.js';
import type { ApiRequest, RequestInfo } from '../request.js';

/** How requests are told apart in metrics: by few values, whatever they say. */

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

/** What is done, in the words of the metrics. */
export function verbOf(request: Pick<ApiRequest, 'info' | 'method' | 'header'>): string {
  const { isResource, verb } = request.info;
  if (!isResource) return pathVerbs.get(request.method) ?? 'other';
  if (verb === 'patch' && request.header('content-type') === 'application/apply-patch+yaml') return 'APPLY';
  return resourceVerbs.get(verb) ?? 'other';
}

const collectionVerbs = new Set(['list', 'watch', 'deletecollection']);

/** How much a request is about: one object, those of a namespace, or all. */
export function scopeOf({ isResource, verb, namespace, name }: RequestInfo): string {
  if (!isResource) return '';
  if (!collectionVerbs.has(verb) && (name !== '' || verb === 'create')) return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

/** `All` for a dry run, `invalid` for what asks for something else. */
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

/** The part of a path that is the same for everybody; "" for paths unknown. */
export function knownPath(path: string): string {
  const whole = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (paths.has(whole)) return whole;
  const root = /^\/(?:openapi\/v3|apis?|healthz|livez|readyz)(?=\/)/.exec(whole)?.[0];
  return root !== undefined && paths.has(root) ? root : '';
}

const namedUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);
/** User names are nobody's business, and too many. */
export function userSort(username: string): string {
  if (namedUsers.has(username)) return username;
  return username.includes('@') ? 'email_id' : 'other';
}
