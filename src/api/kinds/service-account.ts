import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';
import type { LocalObjectReference, ObjectReference } from './object-reference.js';

/** An identity for programs. */
export interface ServiceAccount extends ApiObject {
  /** References to Secrets, of which only the names are stored. */
  readonly secrets?: readonly ObjectReference[];
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly automountServiceAccountToken?: boolean;
}

/** The resource `serviceaccounts` of `v1`, namespaced. */
export const ServiceAccounts = resourceType<ServiceAccount>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
  shortNames: ['sa'],
});

/** The name of the account that every namespace has. */
export const defaultServiceAccount = 'default';

/** A deprecated annotation; setting it causes a warning. */
export const enforceMountableSecretsAnnotation = `${defaultDomains.signer}/enforce-mountable-secrets`;
