import { frame, literal, preface } from '../http/frames.js';
import type { Random } from './random.js';

/** Generates the bytes of one HTTP/2 connection: a correct or nearly correct preface, and frames (RFC 9113). */
export function http2Bytes(random: Random): Buffer {
  const frames = random.oneIn(3) ? anyFrames(random) : conversation(random);
  return Buffer.concat([random.oneIn(20) ? preface.subarray(0, random.below(preface.length)) : preface, ...frames]);
}

const data = 0;
const headers = 1;
const priority = 2;
const reset = 3;
const settings = 4;
const ping = 6;
const goodbye = 7;
const windowUpdate = 8;
const continuation = 9;
const endStream = 1;
const endHeaders = 4;

/** Returns frames of any type and content, some with a wrong length. */
function anyFrames(random: Random): readonly Buffer[] {
  return Array.from({ length: 1 + random.below(30) }, () => {
    const payload = Buffer.from(Array.from({ length: random.below(60) }, () => random.below(256)));
    const one = frame(random.below(11), random.below(256), random.pick([0, 1, 1, 3, 5, 2, 2 ** 31 - 1]), payload);
    if (random.oneIn(8)) one.writeUIntBE(random.below(2 ** 24), 0, 3);
    return one;
  });
}

/** Returns valid frames in an order in which few clients send them; all may arrive in one read. */
function conversation(random: Random): readonly Buffer[] {
  let next = 1;
  const opened = (): number => (next === 1 ? 1 : 1 + 2 * random.below((next - 1) / 2));
  const ways: readonly (() => Buffer)[] = [
    ...Array.from({ length: 8 }, () => (): Buffer => {
      const isWhole = !random.oneIn(3);
      const asked = frame(headers, endHeaders | (isWhole ? endStream : 0), next, requestBlock(random));
      const body = frame(data, random.oneIn(3) ? 0 : endStream, next, Buffer.from(random.pick(bodies)));
      next += 2;
      return isWhole || random.oneIn(3) ? asked : Buffer.concat([asked, body]);
    }),
    () => frame(reset, 0, opened(), uint32(random.pick([0, 2, 5, 7, 8, 11]))),
    () => frame(reset, 0, opened(), uint32(8)),
    () => frame(windowUpdate, 0, random.oneIn(2) ? 0 : opened(), uint32(random.pick([1, 1_000, 65_535]))),
    () => frame(data, random.below(2), opened(), Buffer.from('{}')),
    () => frame(settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(random.pick([0, 10, 65_535, 2 ** 20]))])),
    () => frame(ping, 0, 0, Buffer.alloc(8)),
    () => frame(priority, 0, opened(), Buffer.from([0, 0, 0, 0, 16])),
    () => frame(headers, endHeaders | endStream, opened(), literal('trailer', 'x')),
    () =>
      random.oneIn(4) ? frame(goodbye, 0, 0, Buffer.concat([uint32(0), uint32(random.below(2))])) : Buffer.alloc(0),
    () => {
      const halves = [
        frame(headers, 0, next, requestBlock(random)),
        frame(continuation, endHeaders, next, literal('more', 'x')),
      ];
      next += 2;
      return Buffer.concat(halves);
    },
  ];
  return Array.from({ length: 1 + random.below(60) }, () => random.pick(ways)());
}

const bodies = ['{"metadata":{"generateName":"fuzz-"}}', '{', '', 'x'.repeat(5_000)];
const paths = [
  '/api',
  '/version',
  '/api/v1/configmaps',
  '/api/v1/namespaces?watch=true&timeoutSeconds=1',
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps/none',
  '/openapi/v2',
];

function requestBlock(random: Random): Buffer {
  const fields = [
    literal(':method', random.pick(['GET', 'GET', 'GET', 'POST', 'PATCH', 'DELETE', 'HEAD', 'CONNECT', ''])),
    literal(':scheme', 'https'),
    literal(':path', random.pick(paths)),
    literal(':authority', 'a'),
    ...(random.oneIn(3) ? [literal('authorization', 'Bearer nobody')] : []),
    ...(random.oneIn(10) ? [literal('content-length', String(random.below(40)))] : []),
    ...(random.oneIn(20) ? [literal(random.pick(['connection', 'A', 'expect']), '100-continue')] : []),
  ];
  return Buffer.concat(fields);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
