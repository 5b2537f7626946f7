import type { Json } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import type { WireReader, WireWriter } from './wire-format.js';

/** A value in the place of a field, list item or map value. */
export interface Codec {
  readonly type: number;
  /** `previous` is what was read under the same number before. */
  read(reader: WireReader, depth: number, previous: Json | undefined): Json;
  /** The same of a large message, or a list's item that is one. */
  readonly readInSteps?: (reader: WireReader, depth: number, previous: Json | undefined) => Steps<Json>;
  /** Writes value, length and tag. `undefined` and null are the zero value. */
  write(writer: WireWriter, number: number, value: Json | undefined): void;
  /** The same of what may be large. */
  readonly writeInSteps?: (writer: WireWriter, number: number, value: Json | undefined) => Steps<void>;
}
