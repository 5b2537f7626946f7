import { createHash } from 'node:crypto';
import { goJson } from '../../api/go-text.js';
import type { Served } from '../catalogue.js';
import type { Headers, Result } from '../request.js';
import { openApiV2 } from './v2.js';
import { openApiV2Protobuf } from './v2-protobuf.js';
import { documentHash, documentPath, documentUrl, openApiV3, openApiV3Index } from './v3.js';

/** `/openapi/v2` and `/openapi/v3/...`: made when first asked for, kept as long as nothing served changes. */

interface Asked {
  readonly path: string;
  readonly accept: string | undefined;
  readonly hash: string | undefined;
  readonly ifNoneMatch: string | undefined;
}
type Bytes = Extract<Result, { type: 'bytes' }>;

const json = 'application/json';
const v2Protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const v2ProtobufAnswer = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const yearSeconds = 365 * 86_400;

interface Documents {
  v2?: { readonly json: Buffer; readonly protobuf: Buffer };
  v3?: ReadonlyMap<string, Buffer>;
}
const made = new WeakMap<Served, Documents>();
const documentsOf = (served: Served): Documents => {
  const known = made.get(served) ?? {};
  made.set(served, known);
  return known;
};

/** undefined: there is no such document. */
export function openApiAnswer(served: Served, asked: Asked): Result | undefined {
  if (asked.path === '/openapi/v2') return v2Answer(served, asked);
  if (asked.path === '/openapi/v3') {
    return fresh(Buffer.from(goJson(openApiV3Index(v3Documents(served)))), json, asked, {});
  }
  const path = asked.path.slice('/openapi/v3/'.length);
  const document = asked.path.startsWith('/openapi/v3/') ? v3Documents(served).get(path) : undefined;
  if (document === undefined) return undefined;
  const hash = documentHash(document);
  if (asked.hash === undefined) return fresh(document, json, asked, {});
  if (asked.hash !== hash) {
    return {
      type: 'bytes',
      code: 301,
      bytes: Buffer.alloc(0),
      contentType: json,
      headers: { Location: documentUrl(path, hash) },
    };
  }
  const expires = new Date(Date.now() + yearSeconds * 1_000).toUTCString();
  return fresh(document, json, asked, { 'Cache-Control': 'public, immutable', Expires: expires });
}

/** Every group version's document. A broken custom schema must not take the others down. */
function v3Documents(served: Served): ReadonlyMap<string, Buffer> {
  const documents = documentsOf(served);
  documents.v3 ??= new Map(
    served.groups.flatMap(({ versions }) =>
      versions.map(
        (version) => [documentPath(version), Buffer.from(goJson(openApiV3(version.definitions, version)))] as const,
      ),
    ),
  );
  return documents.v3;
}

function v2Answer(served: Served, asked: Asked): Bytes {
  const form = v2Form(asked.accept);
  if (form === undefined) return { type: 'bytes', code: 406, bytes: Buffer.alloc(0), contentType: json };
  const documents = documentsOf(served);
  if (documents.v2 === undefined) {
    const document = openApiV2(served.definitions);
    documents.v2 = { json: Buffer.from(goJson(document)), protobuf: openApiV2Protobuf(document) };
  }
  return form === 'json'
    ? fresh(documents.v2.json, json, asked, { Vary: 'Accept' })
    : fresh(documents.v2.protobuf, v2ProtobufAnswer, asked, { Vary: 'Accept' });
}

function v2Form(accept: string | undefined): 'json' | 'protobuf' | undefined {
  for (const clause of (accept ?? '*/*').split(',')) {
    const type = clause.split(';', 1)[0]?.trim() ?? '';
    if (type === json || type === '*/*' || type === 'application/*' || type === '') return 'json';
    if (type === v2Protobuf || type === v2ProtobufAnswer) return 'protobuf';
  }
  return undefined;
}

/** The document, or 304 if the caller has it. */
function fresh(bytes: Buffer, contentType: string, asked: Asked, headers: Headers): Bytes {
  const etag = `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`;
  const unchanged = asked.ifNoneMatch === etag;
  return {
    type: 'bytes',
    code: unchanged ? 304 : 200,
    bytes: unchanged ? Buffer.alloc(0) : bytes,
    contentType,
    headers: { ETag: etag, ...headers },
  };
}
