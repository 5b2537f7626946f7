import { methodNotAllowed, noSuchResource } from '../api/errors.js';
import { goJson } from '../api/go-text.js';
import { sortTexts } from '../api/text-order.js';
import { withoutTrailing } from '../api/trim.js';
import { discoveryMaxAge, keySetPath, openIdConfigurationPath } from '../auth/discovery-documents.js';
import type { Clock } from '../runtime/clock.js';
import { openMetrics } from '../runtime/metrics.js';
import type { Catalogue, Served } from './catalogue.js';
import { apiGroup, apiGroupList, apiResourceList, apiVersions, documentHash, groupDiscoveryList } from './discovery.js';
import { type HealthCheck, health, healthMetrics, pageNotFound } from './health.js';
import { aggregatedForm, negotiate, requireRoute } from './negotiate.js';
import { type ApiRequest, type Headers, plainJson, type Representation, type Result } from './request.js';
import { serverVersion } from './version.js';

/** Serves paths that name no resource: version, health, discovery, schemas, keys, and metrics. */
export interface NonResourceParts {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly checks: readonly HealthCheck[];
  /** Returns the host:port at which clients reach this server. */
  serverAddress(): string;
  /** The OpenID Connect documents for relying parties, if the issuer is a URL. */
  readonly openId?: { readonly configuration: object; readonly keys: object };
  /** Returns the Prometheus text, if metrics are collected. */
  metrics?(): Promise<{ readonly text: string; readonly contentType: string }>;
}

interface NonResourceAnswer {
  readonly result: Result;
  readonly representation: Representation;
  readonly headers?: Headers;
}

export interface NonResourceRoutes {
  run(request: ApiRequest): Promise<NonResourceAnswer>;
}

export function nonResourceRoutes(parts: NonResourceParts): NonResourceRoutes {
  const aggregated = new AggregatedDiscovery();
  const slis = parts.metrics && openMetrics();
  const observed = slis && healthMetrics(slis);
  const scrapes = new Map([
    ['/metrics', parts.metrics],
    ['/metrics/slis', slis && (() => slis.expose())],
  ]);

  /** Returns the response for health, schemas, metrics, keys and aggregated discovery; undefined for other paths. */
  async function special(request: ApiRequest, path: string): Promise<NonResourceAnswer | undefined> {
    if (/^\/(?:healthz|livez|readyz)(?:\/|$)/.test(path))
      return plainly(await health(parts.checks, path, request.query, observed));
    if (path.startsWith('/openapi/')) return openApi(parts, request, path);
    const scrape = scrapes.get(path);
    if (scrape !== undefined) {
      const { text, contentType } = await scrape();
      return plainly({ type: 'bytes', code: 200, bytes: Buffer.from(text), contentType, compressible: true });
    }
    const keys = openIdAnswer(parts, request, path);
    if (keys !== undefined) return keys;
    // Groups below `/apis/` have no aggregated document.
    if (path !== '/api' && request.info.path !== '/apis') return undefined;
    if (path === '/api') requireGet(request);
    return aggregated.answer(parts.catalogue.current(), request, path === '/api');
  }

  return {
    async run(request) {
      const requestPath = request.info.path;
      // In these paths every slash is significant.
      if (requestPath.startsWith('/openapi/v3/')) return openApi(parts, request, requestPath);
      const path = requestPath.length > 1 ? withoutTrailing(requestPath, '/') : requestPath;
      if (path !== requestPath && exact.test(requestPath)) return plainly(pageNotFound);
      return (await special(request, path)) ?? documentAnswer(parts, request, path);
    },
  };
}

const plainly = (result: Result): NonResourceAnswer => ({ result, representation: plainJson });

const openIdPaths = [openIdConfigurationPath, keySetPath];
/**
 * The documents below which other paths are answered as unknown resources; all other unknown paths get the plain-text
 * 404.
 */
const parents = ({ openId }: NonResourceParts): readonly string[] => [
  '/version',
  ...(openId === undefined ? [] : openIdPaths),
];

/** Returns a document in the form that the caller accepts. Throws ApiError. */
function documentAnswer(parts: NonResourceParts, request: ApiRequest, path: string): NonResourceAnswer {
  if (parents(parts).some((parent) => path.startsWith(`${parent}/`))) throw noSuchResource();
  const found = documentAt(parts, parts.catalogue.current(), path);
  if (found === undefined) return plainly(pageNotFound);
  if (found === 'unknown-version') throw noSuchResource();
  const { document, routed } = found;
  if (routed) requireGet(request);
  const accept = request.header('accept');
  const result: Result = { type: 'object', code: 200, object: document };
  if (path === '/version') requireRoute(accept, 'application/json');
  if (path === '/version' || indexes.has(path)) return { result, representation: { mediaType: 'json', pretty: true } };
  const representation = negotiate(accept, {
    origin: routed ? 'built-in' : 'custom',
    verb: 'get',
    collection: false,
    query: request.query,
    userAgent: request.header('user-agent'),
    document: true,
  });
  return { result, representation };
}

/** Matches paths for which a trailing slash makes a difference. */
const exact = /^\/(?:(?:healthz|livez|readyz|openapi|metrics|index\.html)(?:\/|$)|apis\/\/)/;

function requireGet({ method }: ApiRequest): void {
  if (method !== 'GET') throw methodNotAllowed();
}

/** The paths that list all paths. */
const indexes = new Set(['/', '/index.html']);

const fixedDocuments = new Map<string, (served: Served, parts: NonResourceParts) => object>([
  ['/version', () => serverVersion],
  ['/api', (served, parts) => apiVersions(served, parts.serverAddress())],
  ['/apis', apiGroupList],
]);

interface FoundDocument {
  readonly document: object;
  /**
   * False for `/`, `/apis`, the documents of whole groups, and those of custom resources, which are returned for any
   * method.
   */
  readonly routed: boolean;
}

function documentAt(
  parts: NonResourceParts,
  served: Served,
  path: string,
): FoundDocument | 'unknown-version' | undefined {
  const fixed = indexes.has(path) ? { paths: allPaths(served, parts) } : fixedDocuments.get(path)?.(served, parts);
  if (fixed !== undefined) return { document: fixed, routed: !indexes.has(path) && path !== '/apis' };
  const [root, first = '', second, ...more] = path.slice(1).split('/');
  if (more.length > 0 || (root !== 'api' && root !== 'apis') || (root === 'api' && second !== undefined))
    return undefined;
  const group = served.group(root === 'api' ? '' : first);
  if (group === undefined || (root === 'apis' && first === '')) return undefined;
  if (root === 'apis' && second === undefined) return { document: apiGroup(group), routed: false };
  const version = served.version(group.name, root === 'api' ? first : (second ?? ''));
  if (version !== undefined) return { document: apiResourceList(version, served), routed: group.origin === 'built-in' };
  return group.origin === 'built-in' ? 'unknown-version' : undefined;
}

const fixedPaths = [
  '/healthz',
  '/livez',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/readyz',
  '/version',
];
function allPaths(served: Served, { checks, openId }: NonResourceParts): readonly string[] {
  return sortTexts([
    ...fixedPaths,
    ...(openId === undefined ? [] : openIdPaths),
    ...checks.flatMap(({ name, onlyReady }) => [
      `/readyz/${name}`,
      ...(onlyReady === true ? [] : [`/healthz/${name}`, `/livez/${name}`]),
    ]),
    ...['/api', '/apis', '/apis/'],
    ...served.groups.flatMap(({ name, versions }) => {
      const base = name === '' ? '/api' : `/apis/${name}`;
      return [...(name === '' ? [] : [base]), ...versions.map(({ version }) => `${base}/${version}`)];
    }),
  ]);
}

function openIdAnswer({ openId }: NonResourceParts, request: ApiRequest, path: string): NonResourceAnswer | undefined {
  if (openId === undefined || !openIdPaths.includes(path)) return undefined;
  requireGet(request);
  const [document, contentType] =
    path === keySetPath ? [openId.keys, 'application/jwk-set+json'] : [openId.configuration, 'application/json'];
  requireRoute(request.header('accept'), contentType);
  const headers = { 'Cache-Control': `public, max-age=${discoveryMaxAge}` };
  return plainly({ type: 'bytes', code: 200, bytes: Buffer.from(goJson(document)), contentType, headers });
}

interface AggregatedDocument {
  readonly bytes: Buffer;
  /** The ETag, which is the same for the compact and the indented document. */
  readonly etag: string;
}

/** Serves `/api` and `/apis` as one document each, cached until something changes. */
class AggregatedDiscovery {
  readonly #documents = new WeakMap<Served, Map<string, AggregatedDocument>>();

  /** Returns the document; undefined if the caller wants the legacy one. */
  answer(served: Served, request: ApiRequest, core: boolean): NonResourceAnswer | undefined {
    const form = aggregatedForm(request.header('accept'), request.query, request.header('user-agent'));
    if (form === undefined) return undefined;
    const { bytes, etag } = this.#document(served, core, form.pretty);
    const headers = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' };
    const contentType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const unchanged = request.header('if-none-match') === etag;
    return plainly({
      type: 'bytes',
      code: unchanged ? 304 : 200,
      bytes: unchanged ? Buffer.alloc(0) : bytes,
      contentType,
      headers,
    });
  }

  #document(served: Served, core: boolean, pretty: boolean): AggregatedDocument {
    const documents = this.#documents.get(served) ?? new Map<string, AggregatedDocument>();
    this.#documents.set(served, documents);
    const key = `${core} ${pretty}`;
    const known = documents.get(key);
    if (known !== undefined) return known;
    const list = groupDiscoveryList(served, core);
    const compact = Buffer.from(`${goJson(list)}\n`);
    const created = { bytes: pretty ? Buffer.from(goJson(list, 2)) : compact, etag: `"${documentHash(compact)}"` };
    documents.set(key, created);
    return created;
  }
}

/** Loads and generates OpenAPI only when it is requested. */
async function openApi(
  { catalogue, clock }: NonResourceParts,
  request: ApiRequest,
  path: string,
): Promise<NonResourceAnswer> {
  const { openApiAnswer } = await import('./openapi/routes.js');
  const result = await openApiAnswer(catalogue.current(), {
    now: clock.now(),
    path,
    method: request.method,
    accept: request.header('accept'),
    hash: request.query.get('hash'),
    ifNoneMatch: request.header('if-none-match'),
    ifModifiedSince: request.header('if-modified-since'),
  });
  return plainly(result ?? pageNotFound);
}
