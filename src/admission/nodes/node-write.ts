import type { Domains } from '../../api/domains.js';
import { type ApiError, notFound } from '../../api/errors.js';
import type { ResourceType } from '../../api/object.js';
import type { Authorizer } from '../../auth/authorizer.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { AdmissionAttributes } from '../admission-step.js';

/** The dependencies of rules about node agents. */
export interface NodeParts {
  readonly objects: ObjectSource;
  readonly authorizer: Authorizer;
  readonly domains: Domains;
}

/** A write by the node agent of one node. */
export interface NodeWrite extends NodeParts {
  readonly node: string;
  readonly attributes: AdmissionAttributes;
}

/** Why a write is refused, as the text of a 403 or as another error; undefined if it is not. */
export type Refusal = string | ApiError | undefined;

/** Validates writes of one kind. */
export type NodeRule = (write: NodeWrite) => Promise<Refusal>;

/** Returns the NotFound error of the caches of Kubernetes, which name kinds by their singular. */
export const notCached = ({ singular }: ResourceType, name: string): ApiError =>
  notFound({ group: '', plural: singular, name });

/** Returns a member of an untyped value; undefined also if it is null. */
export function memberOf(value: unknown, member: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[member] ?? undefined;
}
