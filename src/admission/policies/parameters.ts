import type { ParamKind, ParamRef } from '../../api/kinds/admission-policy.js';
import { labelSelectorFrom } from '../../api/label-selectors.js';
import type { ApiObject } from '../../api/object.js';

/** Returns the resource of a kind of parameters; undefined if it is not served. */
export type FindParameters = (kind: ParamKind) => ParameterResource | undefined;

/** Reads the objects of one kind as they are served. `namespace` is absent for cluster-scoped objects. */
export interface ParameterResource {
  readonly namespaced: boolean;
  readonly isBuiltIn: boolean;
  readonly plural: string;
  get(key: { readonly namespace?: string; readonly name: string }): Promise<ApiObject | undefined>;
  list(within: { readonly namespace?: string }): Promise<readonly ApiObject[]>;
}

/** Thrown when the parameters cannot be determined. */
export class ParameterError extends Error {
  override readonly name = 'ParameterError';
}

/**
 * Returns the parameters that a binding selects for a request in a namespace (empty for cluster-scoped requests). A
 * single null means that the policy or the binding has no parameters. Throws ParameterError.
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
    const labelSelector = labelSelectorFrom(selector ?? undefined);
    found = (await resource.list(within)).filter(({ metadata }) => labelSelector.matches(metadata.labels));
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
