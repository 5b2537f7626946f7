import { goJson, goJsonInSteps } from '../api/go-text.js';
import type { Json, JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { runInTurns, TurnTaking } from '../runtime/turn-taking.js';
import type { Entry } from '../store/store.js';
import { isLarge } from './entry-codec.js';
import type { ListResult } from './request.js';

export const listMeta = ({ resourceVersion, continue: token, remainingItemCount }: ListResult) => ({
  resourceVersion,
  ...(token === undefined ? {} : { continue: token }),
  ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
});

/** Returns the metadata of a list of a built-in kind. Transformed lists and lists of custom resources carry no shardInfo. */
export const builtInListMeta = (result: ListResult): JsonObject => ({
  ...listMeta(result),
  ...(result.shard === undefined ? {} : { shardInfo: { selector: result.shard } }),
});

/** The size of the entries in one batch, in bytes. */
const batchBytes = 65_536;

/** Processes the entries of a list in batches, in turns with other work. `prepare` runs before each batch. */
export async function inBatches<R>(
  entries: readonly Entry[],
  make: (batch: readonly Entry[]) => R | Promise<R>,
  prepare?: (batch: readonly Entry[]) => Promise<void> | undefined,
): Promise<readonly R[]> {
  const turns = new TurnTaking();
  const results: R[] = [];
  for (let from = 0; from < entries.length; ) {
    let to = from;
    for (let size = 0; to < entries.length && size < batchBytes; to++) size += entries[to]?.bytes.length ?? 0;
    const some = entries.slice(from, to);
    const preparation = prepare?.(some);
    if (preparation !== undefined) await preparation;
    results.push(await make(some));
    from = to;
    if (turns.isDue) await turns.next();
  }
  return results;
}

type Text = string | Steps<string>;

/** Returns a text that is available at once or is written in steps. */
export function* wholeText(text: Text): Steps<string> {
  return typeof text === 'string' ? text : yield* text;
}

/**
 * How a list is written whose items are written separately. `large` means that one of its items is large, so that the
 * text should be written in steps.
 */
export interface ListForm {
  /** Writes the list without items, or a single object. */
  frame(list: JsonObject, large?: boolean): Text;
  /** Returns the text of an empty list of items in the frame; items are written between `open` and `close`. */
  empty(member: string): string;
  open(member: string): string;
  items(list: readonly Json[], large: boolean): Text;
  readonly between: string;
  readonly close: string;
}

function* compact(value: Json, large: boolean): Steps<string> {
  return large ? yield* goJsonInSteps(value) : goJson(value);
}

export const compactJson: ListForm = {
  *frame(list, large = false) {
    return `${yield* compact(list, large)}\n`;
  },
  empty: (member) => `"${member}":[]`,
  open: (member) => `"${member}":[`,
  *items(list, large) {
    return (yield* compact(list, large)).slice(1, -1);
  },
  between: ',',
  close: ']',
};

export const prettyJson: ListForm = {
  frame: (list) => goJson(list, 2),
  empty: (member) => `"${member}": []`,
  open: (member) => `"${member}": [`,
  items: (list) => goJson(list, 2).slice(1, -2).replaceAll('\n', '\n  '),
  between: ',',
  close: '\n  ]',
};

export const yamlForm = (write: (value: Json) => Steps<string>): ListForm => ({
  frame: write,
  // The only unindented line that reads like this is that of the member itself.
  empty: (member) => `\n${member}: []\n`,
  open: (member) => `\n${member}:\n`,
  items: write,
  between: '',
  close: '',
});

/**
 * Writes a list as text, in pieces that are sent one after the other. `shape` returns the value of a list with the
 * given entries.
 */
export async function listText(
  result: ListResult,
  shape: (result: ListResult) => Steps<JsonObject>,
  form: ListForm,
  prepare?: (entries: readonly Entry[]) => Promise<void> | undefined,
): Promise<readonly Buffer[]> {
  const frame = await runInTurns(shape({ ...result, entries: [] }));
  if (result.entries.length === 0) return [Buffer.from(await runInTurns(wholeText(form.frame(frame))))];
  const member = Object.hasOwn(frame, 'rows') ? 'rows' : 'items';
  const empty = form.empty(member);
  const text = await runInTurns(wholeText(form.frame({ ...frame, [member]: [] })));
  const at = text.indexOf(empty);
  let before = text.slice(0, at) + form.open(member);
  const part = async (entries: readonly Entry[]): Promise<Buffer> => {
    const shaped = await runInTurns(shape({ ...result, entries }));
    const items = await runInTurns(wholeText(form.items(shaped[member] as readonly Json[], entries.some(isLarge))));
    const bytes = Buffer.from(before + items);
    before = form.between;
    return bytes;
  };
  const parts = await inBatches(result.entries, part, prepare);
  return [...parts, Buffer.from(form.close + text.slice(at + empty.length))];
}
