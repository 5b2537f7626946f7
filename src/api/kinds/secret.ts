import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Contents that must not be shown. */
export interface Secret extends ApiObject {
  /** True forbids every change of the contents, permanently. */
  readonly immutable?: boolean;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  /** Plain text that goes into `data` on every write; never read back. */
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
}

/** The resource `secrets` of `v1`, namespaced. */
export const Secrets = resourceType<Secret>({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});

const { signer } = defaultDomains;

/** Types of Secrets that the API server knows; others are free. */
export const secretTypes = {
  opaque: 'Opaque',
  serviceAccountToken: `${signer}/service-account-token`,
  dockerConfig: `${signer}/dockercfg`,
  dockerConfigJson: `${signer}/dockerconfigjson`,
  basicAuth: `${signer}/basic-auth`,
  sshAuth: `${signer}/ssh-auth`,
  tls: `${signer}/tls`,
} as const;

/** Annotations that tie a Secret of type service-account-token to its ServiceAccount. */
export const serviceAccountNameAnnotation = `${signer}/service-account.name`;
export const serviceAccountUidAnnotation = `${signer}/service-account.uid`;

/** Labels of Secrets with tokens: the day of their last use, and the day from which they are refused (`2026-01-31`). */
export const legacyTokenLastUsedLabel = `${signer}/legacy-token-last-used`;
export const legacyTokenInvalidSinceLabel = `${signer}/legacy-token-invalid-since`;

/** The ConfigMap that says since when (`data.since`) uses of such tokens have been recorded. */
export const legacyTokenTracking = {
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
} as const;
