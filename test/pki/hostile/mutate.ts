import { DerCursor, tags } from '../../../src/pki/der.js';
import { encode } from '../../../src/pki/der-writer.js';
import type { Random } from '../../fuzz/random.js';

/** Breaks DER or text in one to four places, wherever they are. */
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

/** Returns about where an element begins: at a common tag. */
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
  // Sets a length that is longer or shorter than the content.
  (bytes, random) => {
    const at = element(bytes, random) + 1;
    return put(bytes, at, (bytes[at] ?? 0) + random.below(5) - 2);
  },
  (bytes, random) => splice(bytes, element(bytes, random) + 1, 1, random.pick(lengths)),
  (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  (bytes, random) => splice(bytes, random.below(bytes.length), 1 + random.below(8), Buffer.alloc(0)),
  (bytes, random) => splice(bytes, random.below(bytes.length), 0, Buffer.from([random.pick(odd), random.pick(odd)])),
  // Repeats a piece once or many times.
  (bytes, random) => {
    const at = element(bytes, random);
    const piece = bytes.subarray(at, at + 1 + random.below(64));
    const times = random.oneIn(20) ? 500 : 1;
    return splice(bytes, at, 0, Buffer.concat(Array.from({ length: times }, () => piece)));
  },
  // Inserts a piece of another input.
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

/** What fits into a request to the server, which contains it in base64 twice. */
const maxBytes = 1_700_000;

/** Changes one to four elements of DER, and corrects the lengths around them. */
export function reshaped(der: Buffer, random: Random): Buffer {
  let result = der;
  for (let left = random.oneIn(2) ? 1 : 1 + random.below(4); left > 0; left--) {
    const next = reshapedOnce(result, random);
    if (next.length > maxBytes) break;
    result = next;
  }
  return result;
}

function reshapedOnce(der: Buffer, random: Random): Buffer {
  const element = new DerCursor(der).any();
  if (element === undefined) return der;
  const { tag, value } = element;
  const members = (tag & 0x20) !== 0 || (tag === tags.octetString && random.oneIn(2)) ? membersOf(value) : [];
  if (members.length > 0 && !random.oneIn(6)) {
    const at = random.oneIn(2) ? random.below(members.length) : longest(members);
    return encode(tag, Buffer.concat(members.with(at, reshapedOnce(members[at] ?? value, random))));
  }
  return random.pick(reshapings)(element.fullBytes, { tag, value, members }, random);
}

const longest = (members: readonly Buffer[]): number => {
  const lengths = members.map(({ length }) => length);
  return lengths.indexOf(Math.max(...lengths));
};

/** Returns the elements in contents; none if they are not elements. */
function membersOf(contents: Buffer): readonly Buffer[] {
  const cursor = new DerCursor(contents);
  const members: Buffer[] = [];
  for (let member = cursor.any(); member !== undefined; member = cursor.any()) members.push(member.fullBytes);
  return cursor.empty ? members : [];
}

interface Parts {
  readonly tag: number;
  readonly value: Buffer;
  readonly members: readonly Buffer[];
}

const stringTags = [tags.utf8String, tags.printableString, tags.ia5String, tags.t61String, tags.bmpString, 0x12, 0x1c];
const nameTags = [0x81, 0x82, 0x86, 0x87, 0xa0, 0xa4, 0x88];
const oddValues = [
  ...['', ' ', '*', '@', 'a\0b', 'a\nb', 'ü', '\u{1f511}\u202e', 'system:masters', '10.0.0.1', '::ffff:10.0.0.1'],
  ...['http://[::1]:x/', 'spiffe://a/%zz', 'x'.repeat(40_000), '.'.repeat(300)],
].map((text) => Buffer.from(text));
const oddBytes = [
  ...oddValues,
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0x80]),
  Buffer.alloc(16),
  Buffer.alloc(17, 0xff),
];

const reshapings: readonly ((whole: Buffer, parts: Parts, random: Random) => Buffer)[] = [
  () => Buffer.alloc(0),
  (whole) => Buffer.concat([whole, whole]),
  (whole) => encode(tags.sequence, whole),
  (whole) => encode(tags.set, whole, whole),
  (_, { value }, random) => encode(random.pick(stringTags), value),
  (_, { value }, random) => encode(random.pick(nameTags), value),
  (_, { value }, random) => encode(random.pick(odd), value),
  (_, { tag }, random) => encode(tag, random.pick(oddBytes)),
  (_, { tag, value }, random) => encode(tag, put(value, random.below(value.length), random.below(256))),
  (_, { tag, value }, random) => encode(tag, value.subarray(random.below(value.length))),
  (_, { tag, members }) => encode(tag, Buffer.concat(members.toReversed())),
  // Repeats it a few times, or as often as fits.
  (_, { tag, value }, random) => {
    const times = random.oneIn(20) ? Math.min(1_000, Math.floor(maxBytes / (4 * value.length))) : 3;
    return encode(tag, Buffer.concat(Array.from({ length: times }, () => value)));
  },
];
