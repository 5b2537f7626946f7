import { quote } from '../api/go-text.js';
import type { Steps } from '../api/steps.js';
import { noOldValue } from './ratchet.js';
import type { Schema } from './schema.js';
import type { NodeCheck } from './validate-scalars.js';
import type { ValidationFailure, ValidationState } from './validation-state.js';

/** Validates the junctors of a schema: anyOf, oneOf, allOf, not. */

interface Attempt {
  readonly matched: number;
  readonly failures: readonly ValidationFailure[];
}

/** Runs a check and collects its failures separately. */
function* runApart(check: NodeCheck, value: unknown, at: ValidationState): Steps<Attempt> {
  if (at.isStep()) yield;
  const end = at.collectApart();
  const found = check(value, at, noOldValue);
  const matched = typeof found === 'number' ? found : yield* found;
  return { matched, failures: end() };
}

/** Compiles the check of the junctors; undefined if there are none. `compile` makes the check of a branch. */
export function compileJunctors(
  { anyOf, oneOf, allOf, not }: Schema,
  compile: (schema: Schema) => NodeCheck,
): ((value: unknown, at: ValidationState) => Steps<number>) | undefined {
  if (!anyOf && !oneOf && !allOf && !not) return undefined;
  const branches = (schemas: readonly Schema[] | undefined): readonly NodeCheck[] => (schemas ?? []).map(compile);
  const [any, one, all] = [branches(anyOf), branches(oneOf), branches(allOf)];
  const never = not && compile(not);
  return function* (value, at) {
    let matched = 1;
    if (any.length > 0) {
      const { best, valid } = yield* attempt(any, value, at, { stopAtFirst: true });
      if (valid === 0) at.failWithoutField((path) => `${quote(path)} must validate at least one schema (anyOf)`);
      at.addAll(best.failures);
      matched += best.matched;
    }
    if (one.length > 0) {
      const { best, valid } = yield* attempt(one, value, at, { stopAtFirst: false });
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        at.failWithoutField((path) => `${quote(path)} must validate one and only one schema (oneOf). ${found}`);
      }
      if (valid === 0) at.addAll(best.failures);
      if (valid < 2) matched += best.matched;
    }
    if (all.length > 0) {
      let valid = 0;
      for (const check of all) {
        const result = yield* runApart(check, value, at);
        at.addAll(result.failures);
        matched += result.matched;
        if (result.failures.length === 0) valid++;
      }
      if (valid < all.length) {
        const none = valid === 0 ? '. None validated' : '';
        at.failWithoutField((path) => `${quote(path)} must validate all the schemas (allOf)${none}`);
      }
    }
    if (never && (yield* runApart(never, value, at)).failures.length === 0) {
      at.failWithoutField((path) => `${quote(path)} must not validate the schema (not)`);
    }
    return matched;
  };
}

/** Returns the first branch that holds, or else the one with the most successful checks, and the number of branches that hold. */
function* attempt(
  branches: readonly NodeCheck[],
  value: unknown,
  at: ValidationState,
  { stopAtFirst }: { readonly stopAtFirst: boolean },
): Steps<{ readonly best: Attempt; readonly valid: number }> {
  let best: Attempt | undefined;
  let valid = 0;
  for (const branch of branches) {
    const result = yield* runApart(branch, value, at);
    if (result.failures.length === 0) {
      if (valid === 0) best = result;
      valid++;
      if (stopAtFirst) break;
    } else if (valid === 0 && (best === undefined || result.matched > best.matched)) best = result;
  }
  return { best: best ?? { matched: 0, failures: [] }, valid };
}
