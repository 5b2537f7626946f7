import { type ServedTypes, type TypedKind, typeWarnings } from '../admission/policies/type-check.js';
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../api/kinds/validating-admission-policy.js';
import { groupVersion } from '../api/object.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import { typeOf } from '../cel/declared.js';
import type { Type } from '../cel/types.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { inTurns } from '../runtime/turn-taking.js';
import { declare } from '../schema/rules/declare.js';

/** Compares the expressions of policies with the types of what is served now. */
export const policyTypeCheck =
  (catalogue: Catalogue) =>
  ({ spec = {} }: ValidatingAdmissionPolicy): Promise<readonly ExpressionWarning[]> =>
    inTurns(typeWarnings(spec, servedTypes(catalogue.current().definitions)));

const servedTypes = (definitions: readonly ResourceDefinition[]): ServedTypes => ({
  kindsOf: (group, version, resource) =>
    definitions
      .filter((one) => (group === '' || one.group === group) && one.version === version && isNamed(one, resource))
      .map((one): TypedKind => ({ group: one.group, version, kind: one.kind, type: typeOfKind(one) })),
  typeOf({ apiVersion = '', kind = '' }) {
    const found = definitions.find((one) => one.kind === kind && groupVersion(one) === apiVersion);
    return found && typeOfKind(found);
  },
});

const isNamed = ({ plural, singular }: ResourceDefinition, name: string): boolean =>
  plural === name || singular === name;

function typeOfKind({ schema, kind }: ResourceDefinition): Type | undefined {
  const declared = declare(schema, true);
  return declared && typeOf(declared, kind);
}
