import type { Random } from '../../fuzz/random.js';

/** Breaks DER or text in one to four places. */
export function mutated(bytes: Buffer, random: Random, others: readonly Buffer[]): Buffer {
  let result = bytes;
  for (let left = 1 + random.below(4); left > 0; left--) result = random.pick(mutations)(result, random, others);
  return result;
}

type Mutation = (bytes: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

const odd = [
  0x00, 0x01, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xff, 0x30, 0x31, 0x02, 0x03, 0x05, 0x06, 0x0c, 0x13, 0x1e, 0xa0,
];
const put = (bytes: Buffer, at: number, byte: number): Buffer => {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = byte;
  return copy;
};
const splice = (bytes: Buffer, at: number, drop: number, insert: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]);

/** Where an element begins, more or less: at a tag that is usual. */
function element(bytes: Buffer, random: Random): number {
  const from = random.below(bytes.length);
  for (let at = from; at < bytes.length; at++) if (odd.includes(bytes[at] ?? 0) && (bytes[at] ?? 0) < 0xb0) return at;
  return from;
}

const mutations: readonly Mutation[] = [
  (bytes, random) => {
    const at = random.below(bytes.length);
    return put(bytes, at, (bytes[at] ?? 0) ^ (1 << random.below(8)));
  },
  (bytes, random) => put(bytes, random.below(bytes.length), random.pick(odd)),
  // A length that says more or less than there is.
  (bytes, random) => {
    const at = element(bytes, random) + 1;
    return put(bytes, at, (bytes[at] ?? 0) + random.below(5) - 2);
  },
  (bytes, random) => splice(bytes, element(bytes, random) + 1, 1, random.pick(lengths)),
  (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  (bytes, random) => splice(bytes, random.below(bytes.length), 1 + random.below(8), Buffer.alloc(0)),
  (bytes, random) => splice(bytes, random.below(bytes.length), 0, Buffer.from([random.pick(odd), random.pick(odd)])),
  // A piece again, once or many times.
  (bytes, random) => {
    const at = element(bytes, random);
    const piece = bytes.subarray(at, at + 1 + random.below(64));
    const times = random.oneIn(20) ? 500 : 1;
    return splice(bytes, at, 0, Buffer.concat(Array.from({ length: times }, () => piece)));
  },
  // A piece of another.
  (bytes, random, others) => {
    const other = random.pick(others);
    const from = element(other, random);
    return splice(bytes, element(bytes, random), random.below(32), other.subarray(from, from + 1 + random.below(200)));
  },
  (bytes, random) => Buffer.concat([bytes, Buffer.from([random.pick(odd)])]),
];

const lengths = ['80', '8100', '820000', '84ffffffff', '88ffffffffffffffff', '8f', 'ff', '8180', '00'].map((hex) =>
  Buffer.from(hex, 'hex'),
);
