import { nameRules } from '../../api/names.js';
import type { ApiObject } from '../../api/object.js';
import { resultOf, type Steps } from '../../api/steps.js';
import type { Violation } from '../../api/violations.js';
import {
  anyName,
  validateFinalizerNames,
  validateMetadata,
  validateMetadataUpdate,
} from '../../registry/metadata-rules.js';
import type {
  RequestContext,
  ResourceDefinition,
  SubresourceView,
  UpdateRules,
} from '../../registry/resource-definition.js';

/** The parts of a write that the rules depend on. */
interface ValidatedWrite {
  readonly definition: ResourceDefinition;
  readonly context: RequestContext;
  /** The subresource of the write, if any. */
  readonly view?: SubresourceView<ApiObject> | undefined;
}

const defaultRules: readonly UpdateRules[] = ['metadata change', 'metadata', 'contents'];

/** Whether the rules of the kind check metadata, at least on updates. */
const looksAtMetadata = ({ updateRules: rules = defaultRules }: ResourceDefinition): boolean =>
  rules.includes('metadata') || rules.includes('metadata change');

/** Returns the violations of a new object. */
export function* createViolations(
  { definition, context }: ValidatedWrite,
  next: ApiObject,
): Steps<readonly Violation[]> {
  const type = definition.typeViolations?.(next) ?? [];
  const isUnchecked = type.length > 0 || !looksAtMetadata(definition);
  const metadata = isUnchecked ? type : yield* validateMetadata(next, metadataRules(definition, next));
  yield;
  const own = [
    ...metadata,
    ...(yield* resultOf(definition.validate?.(next, undefined, context, { inMetadata: metadata }) ?? [])),
  ];
  const isChecked = looksAtMetadata(definition) && impliesGeneric(definition);
  return isChecked || own.length > 0 ? own : yield* validateMetadata(next, genericRules(definition));
}

/** Returns the violations of an update. */
export function* updateViolations(
  { definition, view, context }: ValidatedWrite,
  next: ApiObject,
  previous: ApiObject,
  emptied?: ReadonlySet<string>,
): Steps<readonly Violation[]> {
  // Kubernetes checks metadata once for all kinds and again in the rules of the kind; the causes contain every copy.
  const rules = metadataRules(definition, next);
  const change = yield* validateMetadataUpdate(next, previous);
  yield;
  const asNew = yield* validateMetadata(next, rules);
  yield;
  const isChecked = asNew.length === 0 && impliesGeneric(definition);
  const generic = isChecked ? asNew : yield* validateMetadata(next, genericRules(definition));
  const finalizers = rules.strictFinalizers ? validateFinalizerNames(next.metadata) : [];
  const type = definition.typeViolations?.(next) ?? [];
  const ofMetadata: Partial<Record<UpdateRules, readonly Violation[]>> =
    type.length > 0 ? {} : { metadata: asNew, 'metadata change': [...change, ...finalizers] };
  const order = view?.updateRules ?? definition.updateRules ?? defaultRules;
  const own = view ?? definition;
  const known = { inMetadata: [...type, ...order.flatMap((rule) => ofMetadata[rule] ?? [])], emptied };
  const found = [generic, change, type];
  for (const rule of order) {
    if (rule === 'contents') found.push(yield* resultOf(own.validate?.(next, previous, context, known) ?? []));
    else if (rule === 'change')
      found.push(yield* resultOf(definition.validateChange?.(next, previous, context, known) ?? []));
    else found.push(ofMetadata[rule] ?? []);
  }
  return found.flat();
}

/** The rules for every kind: the name can be part of a URL. */
const genericRules = ({ namespaced }: ResourceDefinition) => ({
  namespaced,
  nameRule: anyName,
  strictFinalizers: false,
});

/** Whether a name that satisfies the rule of the kind satisfies the general one. Some rules do not cover prefixes. */
const impliesGeneric = ({ nameRule }: ResourceDefinition): boolean =>
  nameRule !== nameRules.any && nameRule !== nameRules.longName;

const metadataRules = (definition: ResourceDefinition, object: ApiObject) => ({
  namespaced: definition.namespaced,
  nameRule: definition.nameRuleOf?.(object) ?? definition.nameRule ?? nameRules.dnsSubdomain,
  strictFinalizers: definition.origin === 'built-in' && !definition.anyFinalizer,
});
