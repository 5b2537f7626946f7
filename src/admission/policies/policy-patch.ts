import { goJson, quote } from '../../api/go-text.js';
import type { JsonObject } from '../../api/object.js';
import type { PatchOperation } from '../../api/patch-operation.js';
import { maxRequestBytes } from '../../api/request-size.js';
import type { Steps } from '../../api/steps.js';
import { objectTypeName, PatchStruct } from '../../cel/patch-types.js';
import { configurationOf, InvalidPatchValue, type OutputBudget, patchValueOf } from '../../cel/patch-values.js';
import { typeName } from '../../cel/runtime-types.js';
import { Failure, isList, type Value } from '../../cel/values.js';
import { runInTurns, type TurnTaking } from '../../runtime/turn-taking.js';
import type { CompiledMutation } from './compiled.js';
import { MutationFailed } from './policy-patcher.js';

/** The result of a mutation: an apply configuration, or the operations of a JSON patch. */
export type PolicyPatch = { readonly configuration: JsonObject } | { readonly operations: readonly PatchOperation[] };

/** The maximum number of values in the result of an expression. */
const mostValues = 200_000;

/** Returns the change that the result of a mutation describes. Throws MutationFailed. */
export async function policyPatchOf(
  { patchType }: CompiledMutation,
  value: Value,
  turns: TurnTaking,
): Promise<PolicyPatch> {
  const budget: OutputBudget = { values: mostValues, bytes: maxRequestBytes };
  return patchType === 'JSONPatch'
    ? { operations: await runInTurns(operationsOf(value, budget), turns) }
    : { configuration: await runInTurns(configurationIn(value, budget), turns) };
}

function* configurationIn(value: Value, budget: OutputBudget): Steps<JsonObject> {
  if (!(value instanceof PatchStruct)) {
    throw new MutationFailed(`unsupported return type from ApplyConfiguration expression: ${typeName(value)}`);
  }
  checkNames(value, objectTypeName);
  try {
    return yield* configurationOf(value, budget);
  } catch (error) {
    throw error instanceof InvalidPatchValue ? new MutationFailed(error.message, { cause: error }) : error;
  }
}

function* operationsOf(value: Value, budget: OutputBudget): Steps<readonly PatchOperation[]> {
  if (!isList(value)) throw new MutationFailed('type mismatch: JSONPatchType.expression should evaluate to array');
  const operations: PatchOperation[] = [];
  for (let at = 0; at < value.size; at++) {
    const operation = value.at(at);
    if (!(operation instanceof PatchStruct)) {
      throw new MutationFailed('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
    }
    operations.push(yield* operationOf(operation, budget));
  }
  return operations;
}

function* operationOf(written: PatchStruct, budget: OutputBudget): Steps<PatchOperation> {
  const text = (field: string): string => {
    const value = written.get(field);
    return typeof value === 'string' ? value : '';
  };
  const value = written.get('value');
  if (value instanceof PatchStruct) checkNames(value, value.name);
  const from = text('from');
  try {
    return {
      op: readable(text('op')) ?? 'unknown',
      path: readable(text('path')),
      from: from === '' ? undefined : readable(from),
      value: value === undefined ? undefined : yield* patchValueOf(value, budget),
    };
  } catch (error) {
    if (!(error instanceof InvalidPatchValue)) throw error;
    const problem = 'JSONPath valueExpression evaluated to a type that could not marshal to JSON';
    throw new MutationFailed(`${problem}: ${error.message}`, { cause: error });
  }
}

/**
 * Returns a text as Kubernetes reads it, which quotes it as Go does and parses that as JSON; undefined if it then
 * contains escapes that JSON does not have.
 */
function readable(text: string): string | undefined {
  try {
    return JSON.parse(quote(text)) as string;
  } catch {
    return undefined;
  }
}

/**
 * Checks that the type name of a struct literal matches the field that it is in: `Object.spec` in the field `spec` of
 * an `Object`.
 */
function checkNames(written: PatchStruct, expected: string): void {
  const wrong: string[] = [];
  let remaining = mostValues;
  const open: { readonly value: Value; readonly name: string }[] = [{ value: written, name: expected }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, name } = next;
    if (--remaining < 0) throw new MutationFailed('the result of the expression is too large');
    if (value instanceof PatchStruct) {
      if (value.name !== name) {
        wrong.push(
          `unexpected type name ${goJson(value.name)}, expected ${goJson(name)}, which matches field name path from root Object type`,
        );
      }
      for (const field of [...value.fields()].reverse()) {
        open.push({ value: value.get(field) ?? null, name: `${name}.${field}` });
      }
    } else if (value instanceof Failure || typeof value !== 'object' || value === null || !('kind' in value)) continue;
    else if ('plain' in value) continue;
    else if (value.kind === 'list') {
      if (value.size > remaining) throw new MutationFailed('the result of the expression is too large');
      for (let at = value.size - 1; at >= 0; at--) open.push({ value: value.at(at), name });
    } else if (value.kind === 'map') {
      for (const key of value.keys()) open.push({ value: value.get(key) ?? null, name });
    }
  }
  if (wrong.length > 0) throw new MutationFailed(`type mismatch: ${wrong.join('\n')}`);
}
