import { goJson } from '../../api/go-text.js';
import type { Json } from '../../api/object.js';

/** Writes JSON objects from members that have been written already. */

export const jsonMember = (name: string, value: Json): Buffer => Buffer.from(`${goJson(name)}:${goJson(value)}`);

/** Writes an object: members separated by commas, between the texts `before` and `after`. */
export function* jsonObject(before: string, members: readonly Buffer[], after: string): Generator<Buffer, void> {
  yield Buffer.from(`${before}{`);
  for (const [at, member] of members.entries()) {
    if (at > 0) yield comma;
    yield member;
  }
  yield Buffer.from(`}${after}`);
}
const comma = Buffer.from(',');
