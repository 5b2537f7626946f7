import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';
import type { LocalObjectReference, ObjectReference } from './object-reference.js';

/** Identity for processes that run in pods. */
export interface ServiceAccount extends ApiObject {
  /** Secrets that pods of this service account may use. Only their names are stored. */
  readonly secrets?: readonly ObjectReference[];
  /** Secrets with credentials for pulling images in pods of this service account. */
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  /** Whether a token is mounted into pods of this service account; true by default. Pods can override it. */
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

/** The name of the service account that every namespace has. */
export const defaultServiceAccount = 'default';

/** A deprecated annotation; setting it causes a warning. */
export const enforceMountableSecretsAnnotation = `${defaultDomains.signer}/enforce-mountable-secrets`;
