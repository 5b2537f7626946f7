import { goJson } from '../../api/go-text.js';
import type { Json } from '../../api/object.js';

/** Objects in JSON, of members that are written already. */

export const jsonMember = (name: string, value: Json): Buffer => Buffer.from(`${goJson(name)}:${goJson(value)}`);

/** Members one after the other, between what comes before them and after. */
export function* jsonObject(before: string, members: readonly Buffer[], after: string): Generator<Buffer, void> {
  yield Buffer.from(`${before}{`);
  for (const [at, member] of members.entries()) {
    if (at > 0) yield comma;
    yield member;
  }
  yield Buffer.from(`}${after}`);
}
const comma = Buffer.from(',');
