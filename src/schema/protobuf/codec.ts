import type { Json } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import type { WireReader, WireWriter } from './wire-format.js';

/** Reads and writes a value as a field, list item or map value. */
export interface Codec {
  readonly type: number;
  /** Reads a value. `previous` is the value read earlier under the same number. */
  read(reader: WireReader, depth: number, previous: Json | undefined): Json;
  /** Reads a large message, or an item of a list that is one, in steps. */
  readonly readInSteps?: (reader: WireReader, depth: number, previous: Json | undefined) => Steps<Json>;
  /** Writes value, length and tag, from back to front. Undefined and null are the zero value. */
  write(writer: WireWriter, number: number, value: Json | undefined): void;
  /** Like `write`, in steps for values that may be large. */
  readonly writeInSteps?: (writer: WireWriter, number: number, value: Json | undefined) => Steps<void>;
}
