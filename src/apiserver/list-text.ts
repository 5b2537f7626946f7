import { goJson } from '../api/go-text.js';
import type { Json, JsonObject } from '../api/object.js';
import { TurnTaking } from '../runtime/turn-taking.js';
import type { Entry } from '../store/store.js';
import type { ListResult } from './request.js';

/** Bytes of entries that are dealt with at a time. */
const batchBytes = 65_536;

/** Deals with the entries of a list in batches, with turns for others in between. */
export async function inBatches<R>(
  entries: readonly Entry[],
  make: (batch: readonly Entry[]) => R,
): Promise<readonly R[]> {
  const turns = new TurnTaking();
  const made: R[] = [];
  for (let from = 0; from < entries.length; ) {
    let to = from;
    for (let size = 0; to < entries.length && size < batchBytes; to++) size += entries[to]?.bytes.length ?? 0;
    made.push(make(entries.slice(from, to)));
    from = to;
    if (turns.isDue) await turns.next();
  }
  return made;
}

/** How a list is written whose items are written apart. */
export interface ListForm {
  /** The list without items. */
  frame(list: JsonObject): string;
  /** What stands in the frame for no items; items stand between `open` and `close`. */
  empty(member: string): string;
  open(member: string): string;
  items(list: readonly Json[]): string;
  readonly between: string;
  readonly close: string;
}

export const compactJson: ListForm = {
  frame: (list) => `${goJson(list)}\n`,
  empty: (member) => `"${member}":[]`,
  open: (member) => `"${member}":[`,
  items: (list) => goJson(list).slice(1, -1),
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

export const yamlForm = (writeYaml: (value: Json) => string): ListForm => ({
  frame: writeYaml,
  // Other lines that read like this are indented.
  empty: (member) => `\n${member}: []\n`,
  open: (member) => `\n${member}:\n`,
  items: writeYaml,
  between: '',
  close: '',
});

/** A list as text, in parts to be written one after the other. `shape` makes the value of a list with these entries. */
export async function listText(
  result: ListResult,
  shape: (result: ListResult) => JsonObject,
  form: ListForm,
): Promise<readonly Buffer[]> {
  const frame = shape({ ...result, entries: [] });
  if (result.entries.length === 0) return [Buffer.from(form.frame(frame))];
  const member = Object.hasOwn(frame, 'rows') ? 'rows' : 'items';
  const empty = form.empty(member);
  const text = form.frame({ ...frame, [member]: [] });
  const at = text.indexOf(empty);
  let before = text.slice(0, at) + form.open(member);
  const parts = await inBatches(result.entries, (entries) => {
    const part = Buffer.from(before + form.items(shape({ ...result, entries })[member] as readonly Json[]));
    before = form.between;
    return part;
  });
  return [...parts, Buffer.from(form.close + text.slice(at + empty.length))];
}
