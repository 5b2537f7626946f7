import type { ParamKind, ParamRef } from '../../api/kinds/admission-policy.js';
import { labelSelectorFrom } from '../../api/label-selectors.js';
import type { ApiObject } from '../../api/object.js';

/** The resource of a kind of parameters; undefined where none is served. */
export type FindParameters = (kind: ParamKind) => ParameterResource | undefined;

/** Objects of one kind, as they are served. `namespace` is absent for those that are in none. */
export interface ParameterResource {
  readonly namespaced: boolean;
  readonly isBuiltIn: boolean;
  readonly plural: string;
  get(key: { readonly namespace?: string; readonly name: string }): Promise<ApiObject | undefined>;
  list(within: { readonly namespace?: string }): Promise<readonly ApiObject[]>;
}

/** The parameters cannot be told. */
export class ParameterError extends Error {
  override readonly name = 'ParameterError';
}

/**
 * The parameters that a binding gives a policy for a request in a namespace (empty: in none); null stands for none where
 * the policy or the binding knows no parameters. Throws ParameterError.
 */
export async function parametersOf(
  resource: ParameterResource | undefined,
  ref: ParamRef | null | undefined,
  requestNamespace: string,
): Promise<readonly (ApiObject | null)[]> {
  if (resource === undefined || !ref) return [null];
  const { name = '', selector, parameterNotFoundAction } = ref;
  const within = placeOf(resource, ref, requestNamespace);
  let found: readonly ApiObject[];
  if (name !== '') {
    const one = await resource.get({ ...within, name });
    found = one === undefined ? [] : [one];
  } else {
    const wanted = labelSelectorFrom(selector ?? undefined);
    found = (await resource.list(within)).filter(({ metadata }) => wanted.matches(metadata.labels));
  }
  if (found.length === 0 && parameterNotFoundAction === 'Deny') {
    throw new ParameterError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

function placeOf(
  { namespaced }: ParameterResource,
  { namespace: named = '' }: ParamRef,
  requestNamespace: string,
): { readonly namespace?: string } {
  if (!namespaced && named !== '') {
    throw new ParameterError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  if (!namespaced) return {};
  const namespace = named || requestNamespace;
  if (namespace !== '') return { namespace };
  throw new ParameterError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
}
