import { type ServedKind, typeWarnings } from '../admission/policies/type-check.js';
import type { ExpressionWarning, ValidatingAdmissionPolicy } from '../api/kinds/validating-admission-policy.js';
import type { Catalogue } from '../apiserver/catalogue.js';
import { typeOf } from '../cel/decl-type.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { declareSchema } from '../schema/rules/declare.js';

/** Returns a function that checks the expressions of policies against the types that are served now. */
export const policyTypeCheck =
  (catalogue: Catalogue) =>
  ({ spec = {} }: ValidatingAdmissionPolicy): Promise<readonly ExpressionWarning[]> =>
    runInTurns(typeWarnings(spec, catalogue.current().definitions.map(servedKind)));

/** Returns a kind whose schema is read only when its type is needed. */
function servedKind(definition: ResourceDefinition): ServedKind {
  const { group, version, kind, plural, singular } = definition;
  return {
    ...{ group, version, kind, plural, singular },
    type() {
      const declared = declareSchema(definition.schema, true);
      return declared && typeOf(declared, kind);
    },
  };
}
