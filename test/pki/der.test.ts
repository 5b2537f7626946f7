import { expect, test } from 'vitest';
import { DerCursor, maxElements, tags } from '../../src/pki/der.js';
import { encode, encodeOid, sequence } from '../../src/pki/der-writer.js';
import { readName } from '../../src/pki/distinguished-name.js';

/** Returns a name with this many RDNs of this many attributes. */
function nameOf(rdns: number, attributes: number): Buffer {
  const one = sequence(encodeOid('2.5.4.3'), encode(tags.utf8String, Buffer.from('a')));
  const rdn = encode(tags.set, ...Array.from({ length: attributes }, () => one));
  return sequence(...Array.from({ length: rdns }, () => rdn));
}

test.each(['', '30', '1f00', '3080', '308100', '3001', '30820000'])('%j is not an element', (hex) => {
  expect(new DerCursor(Buffer.from(hex, 'hex')).any()).toBeUndefined();
});

test('a cursor reads a limited number of elements', () => {
  const many = new DerCursor(Buffer.alloc(2 * (maxElements + 1), encode(tags.null)));
  for (let count = 0; count < maxElements; count++) many.any();
  expect(many.empty).toBe(false);
  expect(many.any()).toBeUndefined();
});

test('the number of attributes of a name is limited, however they are distributed', () => {
  expect(readName(nameOf(100, maxElements / 100)).attributes.length).toBe(maxElements);
  expect(readName(nameOf(maxElements, 1)).attributes.length).toBe(maxElements);
  expect(() => readName(nameOf(101, maxElements / 100))).toThrow('too many attributes');
  expect(() => readName(nameOf(maxElements + 1, 1))).toThrow('invalid RDNSequence');
});
