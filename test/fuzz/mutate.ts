import { type Json, setMember } from '../../src/api/object.js';
import { accepts, contentTypes, hostileNames, hostileText, hostileValues, nested, queries } from './hostile.js';
import type { Random } from './random.js';
import type { FuzzRequest } from './request.js';

/** Breaks a request in one to three ways; parts of the other requests may be inserted. */
export function mutated(request: FuzzRequest, random: Random, others: readonly FuzzRequest[]): FuzzRequest {
  let result = request;
  for (let left = 1 + random.below(3); left > 0; left--) result = random.pick(mutations)(result, random, others);
  return result;
}

type Mutation = (request: FuzzRequest, random: Random, others: readonly FuzzRequest[]) => FuzzRequest;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const tokens = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  '\\u0000',
  '\\ud800',
  '\n- ',
  '\n---\n',
  '&a ',
  '*a',
  '<<: *a',
  '!!binary ',
  '|',
  '0x',
  '1e999',
  '-',
  'null',
  '"__proto__":',
  '\u0000',
  '\t',
].map((text) => Buffer.from(text));
const patterns = [
  Buffer.from([0xff]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0x80, 0x80, 0x80, 0x80]),
  Buffer.alloc(64),
];

const spliced = (bytes: Buffer, at: number, removed: number, added: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);

const ofBytes: readonly ((bytes: Buffer, random: Random, other: Buffer) => Buffer)[] = [
  (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  (bytes, random) => spliced(bytes, random.below(bytes.length), 1 + random.below(8), Buffer.alloc(0)),
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    for (let left = 1 + random.below(4); left > 0 && copy.length > 0; left--) {
      const at = random.below(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    }
    return copy;
  },
  (bytes, random) => spliced(bytes, random.below(bytes.length), 0, random.pick(tokens)),
  (bytes, random) => spliced(bytes, random.below(bytes.length), random.below(4), random.pick(patterns)),
  (bytes, random) => {
    const from = random.below(bytes.length);
    const piece = bytes.subarray(from, from + 1 + random.below(40));
    return spliced(
      bytes,
      random.below(bytes.length),
      0,
      Buffer.concat(Array.from({ length: 1 + random.below(20) }, () => piece)),
    );
  },
  (bytes, random, other) => {
    const from = random.below(other.length);
    return spliced(bytes, random.below(bytes.length), random.below(30), other.subarray(from, from + random.below(200)));
  },
];

const inBytes: Mutation = (request, random, others) => ({
  ...request,
  body: random.pick(ofBytes)(request.body, random, random.pick(others).body),
});

const inTree: Mutation = (request, random, others) => {
  let tree: Json;
  try {
    tree = JSON.parse(request.body.toString()) as Json;
  } catch {
    return inBytes(request, random, others);
  }
  const text = JSON.stringify(changed(tree, random, random.below(7)));
  // A parsed object cannot have the same name twice.
  const repeated = random.oneIn(6) ? text.replace(/"([^"\\]+)":/, (name) => `${name}null,${name}`) : text;
  return { ...request, body: Buffer.from(repeated) };
};

/** Follows a random path of this many steps, and changes the value there. */
function changed(value: Json, random: Random, steps: number): Json {
  if (steps > 0 && Array.isArray(value) && value.length > 0) {
    const at = random.below(value.length);
    return value.map((item: Json, index: number) => (index === at ? changed(item, random, steps - 1) : item));
  }
  if (steps > 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const names = Object.keys(value);
    if (names.length > 0) {
      const name = random.pick(names);
      const member = (value as Readonly<Record<string, Json>>)[name] as Json;
      return withMember(value as Readonly<Record<string, Json>>, name, changed(member, random, steps - 1));
    }
  }
  return random.pick(replacements)(value, random);
}

function withMember(object: Readonly<Record<string, Json>>, name: string, value: Json): Json {
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(object)) setMember(copy, key, member);
  setMember(copy, name, value);
  return copy;
}

const replacements: readonly ((value: Json, random: Random) => Json)[] = [
  (_, random) => random.pick(hostileValues),
  (_, random) => random.pick(hostileText),
  (value, random) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? withMember(value as Readonly<Record<string, Json>>, random.pick(hostileNames), random.pick(hostileValues))
      : [value, value],
  (value) => [value],
  (value) => ({ a: value }),
  (value, random) =>
    Array.isArray(value) ? Array.from({ length: 1 + random.below(60) }, () => value[0] ?? null) : [value, value],
  (value, random) =>
    typeof value === 'string' ? value.repeat(1 + random.below(200)) : nested(random.below(200), random.oneIn(2)),
  (value, random) =>
    typeof value === 'string'
      ? spliced(Buffer.from(value), random.below(value.length), 1, random.pick(tokens)).toString()
      : null,
];

const inPath: Mutation = (request, random) => {
  const [path = '', query] = request.url.split('?', 2);
  const segments = path.split('/');
  const at = 1 + random.below(segments.length);
  const hostile = encodeURIComponent(random.pick(hostileText).replace(/\p{Surrogate}/gu, '?'));
  const next = random.pick<readonly string[]>([
    segments.with(Math.min(at, segments.length - 1), hostile),
    segments.with(
      Math.min(at, segments.length - 1),
      random.pick([
        'o',
        'x',
        'a',
        '%2e%2e',
        '..',
        '.',
        '',
        '%',
        '%zz',
        'watch',
        'proxy',
        'namespaces',
        'status',
        'scale',
        'token',
        'approval',
        'finalize',
      ]),
    ),
    [...segments, random.pick(['status', 'scale', 'token', 'approval', 'finalize', 'log', hostile])],
    segments.toSpliced(at, 0, random.pick(['watch', 'proxy', 'namespaces', ''])),
    segments.slice(0, -1),
    [...segments.slice(0, at), ...segments.slice(at - 1)],
  ]);
  return { ...request, url: `${next.join('/') || '/'}${query === undefined ? '' : `?${query}`}` };
};

const inQuery: Mutation = (request, random) => ({
  ...request,
  url: `${request.url}${request.url.includes('?') ? '&' : '?'}${random.pick(queries)}`,
});

const withHeader = (request: FuzzRequest, name: string, value: string): FuzzRequest => ({
  ...request,
  headers: [...request.headers.filter(([other]) => other !== name), [name, value]],
});

const headers: readonly (readonly [string, readonly string[]])[] = [
  ['impersonate-user', ['jane', 'system:serviceaccount:default:default', '__proto__', '']],
  ['impersonate-group', ['system:masters', 'system:authenticated', 'a']],
  ['impersonate-uid', ['1', '']],
  ['impersonate-extra-%', ['a']],
  ['impersonate-extra-__proto__', ['a']],
  [
    'authorization',
    [
      'Bearer',
      'Bearer a.b.c',
      'Bearer eyJhbGciOiJub25lIn0.e30.',
      'Basic YTpi',
      `Bearer ${'x'.repeat(5000)}`,
      'Bearer abcdef.0123456789abcdef',
    ],
  ],
  ['accept-encoding', ['gzip', 'gzip;q=0', 'br']],
  ['user-agent', ['a/1', '/', ' ', 'x'.repeat(500), 'Mozilla/5.0']],
  ['audit-id', ['1', 'é', 'x'.repeat(300)]],
  ['if-none-match', ['"a"', '*']],
  ['x-remote-user', ['admin']],
  ['x-forwarded-for', ['127.0.0.1', ',,,']],
  ['content-encoding', ['gzip', 'identity']],
];

const mutations: readonly Mutation[] = [
  inBytes,
  inBytes,
  inTree,
  inTree,
  inTree,
  inTree,
  inPath,
  inQuery,
  (request, random) => ({ ...request, method: random.pick(methods) }),
  (request, random) => withHeader(request, 'content-type', random.pick(contentTypes)),
  (request, random) => withHeader(request, 'accept', random.pick(accepts)),
  (request, random) => {
    const [name, values] = random.pick(headers);
    return withHeader(request, name, random.pick(values));
  },
  // Turns a dry run into a write.
  (request) => ({ ...request, url: request.url.replace('dryRun=All', 'fieldValidation=Warn') }),
];
