import { readJson } from '../../src/api/json-text.js';
import type { ApiObject, JsonObject, Unstructured } from '../../src/api/object.js';
import { groupVersion } from '../../src/api/object.js';
import { resultOf, runSync } from '../../src/api/steps.js';
import type { Findings, Violation } from '../../src/api/violations.js';
import type { RequestContext, ResourceDefinition, SubresourceView } from '../../src/registry/resource-definition.js';
import { decodeText } from '../../src/schema/decode.js';
import { applyDefaults } from '../../src/schema/default.js';
import { arrange } from '../../src/schema/encode.js';

/** Applies the rules of a definition for writes to a body, without a server. */
export interface Written {
  /** The object as in a response. */
  readonly object: Unstructured;
  /** `field: text` of every violation, in order. */
  readonly violations: readonly string[];
  readonly warnings: readonly string[];
}

export const context: RequestContext = {
  user: { username: 'tester', groups: [] },
  key: { namespace: undefined, name: undefined },
  subresource: undefined,
  now: Date.parse('2024-05-06T07:08:09Z'),
  warn: () => {},
};

/** Returns the violations that rules found, after all their steps. */
export const found = (findings: Findings | undefined): readonly Violation[] => runSync(resultOf(findings ?? []));

/** Returns the violations as `field: text`. */
export const texts = (findings: Findings | undefined): readonly string[] =>
  found(findings).map(({ field, body }) => `${field}: ${body}`);

const shown = <T extends ApiObject>(definition: ResourceDefinition<T>, object: T): Unstructured =>
  arrange(definition.schema, object as unknown as JsonObject) as unknown as Unstructured;

/** Returns the body as a server reads it: decoded by the schema, with defaults. */
export function read<T extends ApiObject>(definition: ResourceDefinition<T>, body: object): T {
  const whole = { apiVersion: groupVersion(definition), kind: definition.kind, metadata: { name: 'x' }, ...body };
  const { value } = runSync(decodeText(definition.schema, readJson(JSON.stringify(whole))));
  const filled = applyDefaults(value, definition.schema) as unknown as T;
  return runSync(resultOf(definition.defaults?.(filled) ?? filled));
}

/** A create without `previous`; otherwise an update of it (a body, or an object that was read before). */
export function write<T extends ApiObject>(
  definition: ResourceDefinition<T>,
  body: object,
  previous?: object,
): Written {
  const before = previous === undefined ? undefined : prepared(definition, read(definition, previous), undefined);
  const next = prepared(definition, read(definition, body), before);
  return {
    object: shown(definition, next),
    violations: rulesOf(definition, before).flatMap((rule) =>
      rule === 'contents'
        ? texts(definition.validate?.(next, before, context))
        : texts(before && definition.validateChange?.(next, before, context)),
    ),
    warnings: definition.warnings?.(next, before) ?? [],
  };
}

/** Returns the rules of a definition that are not about metadata, in order. */
const rulesOf = <T extends ApiObject>({ updateRules }: ResourceDefinition<T>, previous: T | undefined) =>
  previous === undefined || updateRules === undefined
    ? ['contents' as const]
    : updateRules.filter((rule) => rule === 'contents' || rule === 'change');

const prepared = <T extends ApiObject>(definition: ResourceDefinition<T>, next: T, previous: T | undefined): T =>
  definition.prepare?.(next, previous, context) ?? next;

/** An update through a view such as status; `previous` is only decoded. */
export function writeView<T extends ApiObject>(
  definition: ResourceDefinition<T>,
  name: string,
  body: object,
  previous: object,
): Written {
  const view = definition.subresources?.[name] as SubresourceView<T>;
  const before = read(definition, previous);
  const next = view.prepare(read(definition, body), before, context);
  return {
    object: shown(definition, next),
    violations: texts(view.validate?.(next, before, context)),
    warnings: [],
  };
}

/** Returns the cells after the name, by column. */
export const cells = <T extends ApiObject>(definition: ResourceDefinition<T>, body: object): Record<string, unknown> =>
  Object.fromEntries(
    (definition.columns ?? []).map(({ name, cell }) => [name, cell(read(definition, body), context.now)]),
  );
