import type { Complaints } from '../api/complaints.js';
import { quote } from '../api/go-text.js';
import type { Json } from '../api/object.js';
import { DeferredWork, pathRestorer, type Steps } from '../api/steps.js';
import { DecodeError } from './decode-error.js';

/** Collects the errors of strict decoding, in document order. */
export interface DecodeReport {
  /** The errors, such as `unknown field "spec.a[0].b"` and `duplicate field "spec.x"`. */
  readonly strict: Complaints;
  /** The path of the value, as a prefix of all reported paths; absent at the root. */
  readonly path?: string;
  /** Whether to report paths as they are, not quoted as Go does. */
  readonly unquoted?: true;
}

/** The maximum number of repeated struct fields in one body. */
const mostRepeated = 1_000;

/** The state of decoding one value: the current path, and the first error. */
export class DecodeState {
  failure: DecodeError | undefined;
  /** The name of the innermost struct that contains the current field. */
  struct = '';
  /** The names of the struct fields from the root to the current value. */
  readonly fields: string[] = [];
  /** Whether decoding only reports errors, because later values of the same member follow. */
  isReportOnly: boolean;
  /** The same with list indexes and map keys, for reports of unknown and repeated fields. */
  readonly path: (string | number)[] = [];
  /** See EmptyMembers. */
  readonly emptyMembers = new Set<string>();
  readonly #strict: Complaints | undefined;
  readonly #prefix: string;
  readonly #unquoted: boolean;
  readonly #around: DecodeState | undefined;
  readonly #postponed = new DeferredWork();
  readonly #unfilled = new Set<Json>();
  readonly #repeated: { count: number };

  /** Whether the value is plain JSON (`Json`, not `ExactJson`). */
  readonly isPlain: boolean;
  /** Whether the parts of the value have been decoded before. */
  readonly isMerged: boolean;
  /** See `decodeText`. */
  readonly converts: boolean;

  /** `around` is the state at a value that a Go type decodes independently. */
  constructor(
    report: DecodeReport | undefined,
    {
      around,
      isPlain = around?.isPlain ?? false,
      isMerged = around?.isMerged ?? false,
      converts = false,
    }: {
      readonly around?: DecodeState;
      readonly isPlain?: boolean;
      readonly isMerged?: boolean;
      readonly converts?: boolean;
    } = {},
  ) {
    this.#strict = report?.strict;
    this.#prefix = report?.path ?? '';
    this.#unquoted = converts || report?.unquoted === true;
    this.#around = around;
    this.isPlain = isPlain;
    this.isMerged = isMerged;
    this.converts = converts;
    this.isReportOnly = around?.isReportOnly ?? false;
    this.#repeated = around === undefined ? { count: 0 } : around.#repeated;
  }

  /** Fills a container with `count` items: at once, or in steps at the end if there are many. */
  fill<C extends Json>(container: C, count: number, decode: (at: number) => void, done?: () => void): C {
    if (this.#postponed.each(count, decode, this.#keepPlace, done)) this.#unfilled.add(container);
    return container;
  }

  isUnfilled(container: Json): boolean {
    return this.#unfilled.has(container);
  }

  /** Runs the postponed work. */
  rest(): Steps<void> {
    return this.#postponed.rest();
  }

  readonly #keepPlace = (): (() => void) => {
    const { struct, isReportOnly } = this;
    const restorers = [pathRestorer(this.fields)(), pathRestorer(this.path)()];
    return () => {
      this.struct = struct;
      this.isReportOnly = isReportOnly;
      for (const restore of restorers) restore();
    };
  };

  /** Records a value of a wrong type and continues. */
  wrongType(value: string, type: string): undefined {
    this.failure ??= this.#wrongType(value, type);
  }

  /** Throws for a value of a wrong type. */
  refuse(value: string, type: string): never {
    throw this.#wrongType(value, type);
  }

  #wrongType(value: string, type: string): DecodeError {
    return new DecodeError(typeText(value, this.#place(), type), typeText(value, this.#place('own'), type));
  }

  /**
   * Returns `Struct.field.field`; empty at the root. With `own`, the path begins in the outermost type that decodes
   * itself, which does not know its own path.
   */
  #place(from: 'root' | 'own' = 'root'): string {
    const around = this.#around;
    const isEnd = around === undefined || (from === 'own' && around.#around === undefined);
    const before = isEnd ? undefined : around.#place(from);
    return this.fields.length === 0 ? (before ?? '') : [before ?? this.struct, ...this.fields].join('.');
  }

  /** Reports a repeated field. Throws if there are too many, because each is expensive and no client needs them. */
  repeats(name: string): void {
    if (++this.#repeated.count > mostRepeated)
      throw new DecodeError(`json: fields are repeated more than ${mostRepeated} times`);
    this.strict('duplicate', name);
  }

  strict(problem: 'unknown' | 'duplicate', name: string): void {
    this.#strict?.add(() => {
      let text = this.#prefix;
      for (const part of this.path) text += typeof part === 'number' ? `[${part}]` : text === '' ? part : `.${part}`;
      const fullPath = text === '' ? name : `${text}.${name}`;
      return `${problem} field ${this.#unquoted ? `"${fullPath}"` : quote(fullPath)}`;
    });
  }
}

const typeText = (value: string, at: string, type: string): string =>
  `json: cannot unmarshal ${value} into Go ${at === '' ? 'value' : `struct field ${at}`} of type ${type}`;
