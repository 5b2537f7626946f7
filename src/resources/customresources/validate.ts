import type { CustomResourceScale } from '../../api/kinds/custom-resource-definition.js';
import { type ApiObject, asJson, type Json } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import { type CauseReason, invalid, type Violation } from '../../api/violations.js';
import { embeddedViolations } from '../../schema/embedded.js';
import { listTypeViolations } from '../../schema/list-types.js';
import { compileRules } from '../../schema/rules/evaluate.js';
import { hasRules } from '../../schema/rules/has-rules.js';
import type { Schema } from '../../schema/schema.js';
import { compileValidator } from '../../schema/validate.js';
import { checkEmbeddedMetadata } from './embedded-metadata.js';
import { scaleSpecViolations, scaleStatusViolations } from './scale.js';

/** Validation of custom resources of one version, in the order of kube-apiserver. */

export interface CustomResourceRules {
  typeViolations(next: ApiObject): readonly Violation[];
  validate(next: ApiObject, previous: ApiObject | undefined, context: ValidationContext): Steps<readonly Violation[]>;
  validateStatus(next: ApiObject, previous: ApiObject, context: ValidationContext): Steps<readonly Violation[]>;
}
interface ValidationContext {
  readonly warn: (text: string) => void;
  /** Violations found in the metadata. */
  readonly inMetadata?: readonly Violation[] | undefined;
}

export function customResourceRules(version: {
  readonly kind: string;
  readonly apiVersion: string;
  /** The structural schema. */
  readonly schema: Schema;
  readonly scale: CustomResourceScale | undefined;
}): CustomResourceRules {
  const { schema, scale } = version;
  const status = schema.properties?.get('status');
  const bySchema = compileValidator(schema);
  const statusBySchema = status && compileValidator(status);
  const ruled = hasRules(schema);
  const evaluate = compileRules(schema, { isRoot: true });

  function* withRules(
    found: readonly Violation[],
    next: ApiObject,
    previous: ApiObject | undefined,
    { warn, inMetadata = [] }: ValidationContext,
  ): Steps<readonly Violation[]> {
    if (!ruled) return found;
    if ([...inMetadata, ...found].some(({ reason }) => blocking.has(reason))) return [...found, notChecked];
    const { violations, warnings } = yield* evaluate(asJson(next), {
      previous: previous && asJson(previous),
      ratcheting: true,
    });
    for (const text of warnings) warn(text);
    return [...found, ...violations];
  }

  const typeViolations = (next: ApiObject): readonly Violation[] => typeMetaViolations(next, version);

  return {
    typeViolations,
    *validate(next, previous, context) {
      const value = asJson(next);
      const found = [
        ...(typeViolations(next).length > 0
          ? []
          : [
              ...(yield* bySchema(value, '', previous === undefined ? undefined : asJson(previous))),
              ...scaleSpecViolations(next, scale),
              ...scaleStatusViolations(next, scale),
            ]),
        ...embeddedViolations(value, schema, checkEmbeddedMetadata),
        ...newListTypeViolations(value, previous, schema),
      ];
      return yield* withRules(found, next, previous, context);
    },
    *validateStatus(next, previous, context) {
      const value = asJson(next);
      const now = value['status'];
      const found = [
        ...(typeViolations(next).length > 0
          ? []
          : [
              ...(now === undefined || statusBySchema === undefined
                ? []
                : // A null status is no change if there was none.
                  yield* statusBySchema(now, 'status', asJson(previous)['status'] ?? null)),
              ...scaleStatusViolations(next, scale),
            ]),
        ...newListTypeViolations(value, previous, schema),
      ];
      return yield* withRules(found, next, previous, context);
    },
  };
}

function typeMetaViolations(
  { kind, apiVersion }: ApiObject,
  expected: { readonly kind: string; readonly apiVersion: string },
): readonly Violation[] {
  return [
    ...(kind === expected.kind ? [] : [invalid('kind', kind, `must be ${expected.kind}`)]),
    ...(apiVersion === expected.apiVersion
      ? []
      : [invalid('apiVersion', apiVersion, `must be ${expected.apiVersion}`)]),
  ];
}

/** Returns duplicate items of sets and map lists, unless the stored object has some already. */
function newListTypeViolations(value: Json, previous: ApiObject | undefined, schema: Schema): readonly Violation[] {
  const found = listTypeViolations(value, schema);
  if (found.length === 0 || previous === undefined) return found;
  return listTypeViolations(asJson(previous), schema).length === 0 ? found : [];
}

/** Violations after which expressions might not find what they expect, so that they are not evaluated. */
const blocking: ReadonlySet<CauseReason> = new Set<CauseReason>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const notChecked: Violation = {
  ...invalid(
    '<nil>',
    null,
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ),
};
