import { badRequest, entityTooLarge } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { cannotUnmarshal, cannotUnmarshalField, type Members, membersOf } from '../../api/json-exact.js';
import { isList, isObject, type JsonObject, member } from '../../api/object.js';
import type { PatchOperation } from '../../api/patch-operation.js';
import { type PatchText, parsePatch } from './patch-type.js';
import { readSpelled } from './spelling.js';

const mostComplaints = 100;

/** The maximum number of operations in a patch that a caller sends. */
export const maxOperations = 10_000;

const texts: ReadonlySet<string> = new Set(['op', 'path', 'from']);
const members: ReadonlySet<string> = new Set([...texts, 'value']);

/** The operations of a patch. */
export interface ReadOperations {
  readonly operations: readonly PatchOperation[];
  /** The errors about unknown and repeated members. */
  readonly strict: readonly string[];
  /** Whether values may be spelt differently from how Go writes them. */
  readonly isOdd: boolean;
  readonly numberError?: string | undefined;
}

/** Reads the operations of a patch. `isStrict`: as Kubernetes does if the caller requests field validation. */
export function readOperations(read: PatchText, isStrict: boolean): ReadOperations {
  const refuse = (message: string): Error => badRequest(isStrict ? `error decoding patch: ${message}` : message);
  const { value, exact, duplicates, numberError, bytes } = parsePatch(read, refuse);
  if (value === null) return { operations: [], strict: [], isOdd: false };
  const [listType, itemType] = isStrict
    ? ['[]handlers.jsonPatchOp', 'handlers.jsonPatchOp']
    : ['jsonpatch.Patch', 'jsonpatch.Operation'];
  if (!isList(value)) throw refuse(cannotUnmarshal(value, listType));
  if (isStrict && numberError !== undefined)
    throw refuse(numberError.replace('value', 'struct field jsonPatchOp.value'));
  const strict: string[] = [];
  const repeated = repeatedMembers(duplicates);
  const exactValues = bytes && (readSpelled(bytes, duplicates.length > 0) as typeof value | undefined);
  const operations: PatchOperation[] = [];
  for (const [index, item] of value.entries()) {
    if (item !== null && !isObject(item)) {
      throw refuse(cannotUnmarshal(item, itemType));
    }
    if (isStrict && item !== null) {
      const sent = (exact as readonly Members[])[index] ?? item;
      checkTypes(sent, refuse);
      for (const text of complaintsAbout(sent, index, repeated)) {
        if (strict.length < mostComplaints && !strict.includes(text)) strict.push(text);
      }
    }
    const operation = operationOf(item ?? {});
    operations.push(
      exactValues === undefined ? operation : { ...operation, value: (exactValues[index] as JsonObject)?.['value'] },
    );
  }
  // In the response of a webhook, the number of values is limited instead.
  if (isStrict && operations.length > maxOperations) {
    throw entityTooLarge(
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    );
  }
  return { operations, strict, isOdd: exactValues !== undefined, numberError };
}

interface RepeatedMember {
  readonly index: number;
  readonly name: string;
  /** Whether the member itself is repeated, not one inside it. */
  readonly isWhole: boolean;
  readonly text: string;
}

/** Returns the repeated members of operations, the last one first. Those inside unknown members are not among them. */
const repeatedMembers = (duplicates: readonly string[]): RepeatedMember[] =>
  duplicates
    .flatMap((text) => {
      const [, index, name = '', end] = /^duplicate field "\[(\d+)\]\.([^.["]*)(.)/.exec(text) ?? [];
      return members.has(name) ? [{ index: Number(index), name, isWhole: end === '"', text }] : [];
    })
    .reverse();

/**
 * Yields the errors about unknown and repeated members of an operation in the order in which they are sent, and removes
 * them from `repeated`.
 */
function* complaintsAbout(item: Members, index: number, repeated: RepeatedMember[]): Generator<string> {
  const seen = new Set<string>();
  for (const [name] of membersOf(item)) {
    if (!members.has(name)) yield `json patch unknown field ${quote(`[${index}].${name}`)}`;
    for (let next = repeated.at(-1); next?.index === index && next.name === name; next = repeated.at(-1)) {
      if (next.isWhole && !seen.has(name)) break;
      yield `json patch ${next.text}`;
      repeated.pop();
    }
    seen.add(name);
  }
}

/** Throws for the first member of a wrong type, including repeated members. */
function checkTypes(item: Members, refuse: (message: string) => Error): void {
  for (const [name, value] of membersOf(item)) {
    if (!texts.has(name) || value === null || typeof value === 'string') continue;
    throw refuse(cannotUnmarshalField(value, `jsonPatchOp.${name}`, 'string'));
  }
}

function operationOf(item: JsonObject): PatchOperation {
  const text = (name: string): string | undefined => {
    const value = member(item, name);
    return typeof value === 'string' ? value : undefined;
  };
  return { op: text('op'), path: text('path'), from: text('from'), value: item['value'] };
}
