import { goJson } from '../../api/go-text.js';
import type { Steps } from '../../api/steps.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { runInTurns } from '../../runtime/turn-taking.js';
import type { Served, ServedVersion } from '../catalogue.js';
import type { Headers, Result } from '../request.js';
import { assembleDocument, type Document, type GeneratedBytes } from './assemble-document.js';
import { type openApiV2, openApiV2Json } from './v2.js';
import { openApiV2Protobuf } from './v2-protobuf.js';
import { documentPath, documentUrl, openApiV3, openApiV3Index } from './v3.js';

/**
 * Serves `/openapi/v2` and `/openapi/v3/...`. Documents are generated when they are first requested, and cached: the
 * document of a group and version until one of its own definitions changes, the others until anything changes.
 */

interface OpenApiRequest {
  readonly path: string;
  readonly method: string;
  readonly accept: string | undefined;
  readonly hash: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  /** The current time in milliseconds. */
  readonly now: number;
}
type Bytes = Extract<Result, { type: 'bytes' }>;

const json = 'application/json';
const v2Protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const v2ProtobufAnswer = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const v2Varies = { Vary: 'Accept-Encoding, Accept' };
const v3Varies = { Vary: 'Accept' };
const yearSeconds = 365 * 86_400;

const etagOf = ({ hash }: Document): string => `"${hash}"`;

/**
 * Returns the response for a document; undefined if there is no such document. A document that is not cached is
 * generated in turns with other work, once for all callers.
 */
export async function openApiAnswer(served: Served, request: OpenApiRequest): Promise<Result | undefined> {
  if (request.path === '/openapi/v2') return v2Answer(served, request);
  const documents = await v3Documents(served, request.now);
  if (request.path === '/openapi/v3')
    return conditionalAnswer(documents.index, 'text/plain; charset=utf-8', request, {});
  const below = '/openapi/v3/';
  if (!request.path.startsWith(below)) return undefined;
  const path = request.path.slice(below.length);
  const document = documents.byPath.get(path);
  if (document === undefined) return { type: 'bytes', code: 404, bytes: Buffer.alloc(0) };
  if (formIn(request.accept) !== 'json') return unacceptable(v3Varies);
  if (!request.hash) return conditionalAnswer(document, json, request, v3Varies);
  if (request.hash !== document.hash) {
    return {
      type: 'bytes',
      code: 301,
      bytes: Buffer.alloc(0),
      contentType: json,
      headers: { ETag: etagOf(document), Location: documentUrl(path, document.hash), ...v3Varies },
    };
  }
  const expires = new Date(request.now + yearSeconds * 1_000).toUTCString();
  return conditionalAnswer(document, json, request, {
    'Cache-Control': 'public, immutable',
    Expires: expires,
    ...v3Varies,
  });
}

interface V3Documents {
  readonly index: GeneratedBytes;
  readonly byPath: ReadonlyMap<string, Document>;
}

/**
 * Returns a function that generates a value in turns with other work when it is first requested, once for all callers.
 * After a failure the next call tries again.
 */
function madeOnce<V>(make: (served: Served, now: number) => Steps<V>): (served: Served, now: number) => Promise<V> {
  const all = new WeakMap<Served, Promise<V>>();
  return (served, now) => {
    const known = all.get(served);
    if (known !== undefined) return known;
    const pending = runInTurns(make(served, now));
    all.set(served, pending);
    pending.catch(() => all.delete(served));
    return pending;
  };
}

const v3Documents = madeOnce(makeV3);

function* makeV3({ groups }: Served, now: number): Steps<V3Documents> {
  const byPath = new Map<string, Document>();
  const shared = new Map<string, Buffer>();
  for (const version of groups.flatMap(({ versions }) => versions)) {
    byPath.set(documentPath(version), yield* versionDocument(version, now, shared));
    yield;
  }
  const hashes = new Map([...byPath].map(([path, { hash }]) => [path, hash] as const));
  return { byPath, index: { bytes: Buffer.from(goJson(openApiV3Index(hashes))), at: now } };
}

/**
 * The documents by their first definition, each with all definitions that it was generated from. Some definitions are
 * shared by all servers of this process and must not keep those of a stopped server in memory.
 */
const versionsMade = new WeakMap<
  ResourceDefinition,
  { readonly of: readonly WeakRef<ResourceDefinition>[]; readonly document: Document }
>();

function* versionDocument({ definitions }: ServedVersion, now: number, shared: Map<string, Buffer>): Steps<Document> {
  const [first] = definitions;
  const known = first === undefined ? undefined : versionsMade.get(first);
  if (known?.of.length === definitions.length && known.of.every((one, at) => one.deref() === definitions[at])) {
    return known.document;
  }
  const document = yield* assembleDocument(yield* openApiV3(definitions, shared), now);
  if (first !== undefined) versionsMade.set(first, { of: definitions.map((one) => new WeakRef(one)), document });
  return document;
}

type V2Form = 'json' | 'protobuf';
const v2Documents: Readonly<Record<V2Form, ReturnType<typeof madeOnce<Document>>>> = {
  json: madeOnce((served, now) => makeV2(served, now, openApiV2Json)),
  protobuf: madeOnce((served, now) => makeV2(served, now, openApiV2Protobuf)),
};

function* makeV2({ definitions }: Served, now: number, write: ReturnType<typeof openApiV2>): Steps<Document> {
  const discoverable = definitions.filter(({ origin, undiscovered }) => origin === 'custom' || !undiscovered);
  return yield* assembleDocument(yield* write(discoverable), now);
}

async function v2Answer(served: Served, request: OpenApiRequest): Promise<Bytes> {
  const form = formIn(request.accept);
  if (form === undefined) return unacceptable(v2Varies);
  const found = conditionalAnswer(
    await v2Documents[form](served, request.now),
    form === 'json' ? json : v2ProtobufAnswer,
    request,
    v2Varies,
  );
  return { ...found, compressible: request.method !== 'HEAD' };
}

const unacceptable = (headers: Headers): Bytes => ({ type: 'bytes', code: 406, bytes: Buffer.alloc(0), headers });

function formIn(accept: string | undefined): V2Form | undefined {
  for (const clause of (accept || '*/*').split(',')) {
    const type = clause.split(';', 1)[0]?.trim() ?? '';
    if (type === json || type === '*/*' || type === '*' || type === 'application/*') return 'json';
    if (type === v2Protobuf || type === v2ProtobufAnswer) return 'protobuf';
  }
  return undefined;
}

/**
 * Returns the document, or 304 if the caller has it already; methods other than GET and HEAD then get 412 (RFC 9110
 * section 13.1.2).
 */
function conditionalAnswer(
  document: GeneratedBytes | Document,
  contentType: string,
  request: OpenApiRequest,
  headers: Headers,
): Bytes {
  const etag = 'hash' in document ? etagOf(document) : undefined;
  const undated = { ...(etag === undefined ? {} : { ETag: etag }), ...headers };
  const dated = { ...undated, 'Last-Modified': new Date(document.at).toUTCString() };
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const isKnown = request.ifNoneMatch
    ? has(request.ifNoneMatch, etag)
    : reads && isSince(request.ifModifiedSince, document);
  if (!isKnown) return { type: 'bytes', code: 200, bytes: document.bytes, contentType, headers: dated };
  const bytes = Buffer.alloc(0);
  if (reads) return { type: 'bytes', code: 304, bytes, headers: etag === undefined ? dated : undated };
  return { type: 'bytes', code: 412, bytes, ...(etag === undefined ? {} : { contentType }), headers: dated };
}

/** Whether If-None-Match, which may list several tags or be `*`, matches (RFC 9110 section 13.1.2). */
const has = (ifNoneMatch: string, etag: string | undefined): boolean =>
  ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*');

/** Whether the document is not newer than If-Modified-Since, to the second. An invalid date is ignored (section 13.1.3). */
const isSince = (ifModifiedSince: string | undefined, { at }: GeneratedBytes): boolean =>
  ifModifiedSince?.endsWith(' GMT') === true && Math.trunc(at / 1_000) * 1_000 <= Date.parse(ifModifiedSince);
