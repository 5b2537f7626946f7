import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';

/** Confidential data, such as passwords, tokens and keys. */
export interface Secret extends ApiObject {
  /** If true, the contents can no longer be changed, nor this field. */
  readonly immutable?: boolean;
  /** Binary values by key, in base64. */
  readonly data?: Readonly<Record<string, string>>;
  /** Text values by key. They are merged into `data` on every write, and never returned. */
  readonly stringData?: Readonly<Record<string, string>>;
  /** Type of the Secret, such as `Opaque` (the default); well-known types have rules for the data. */
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

/** The types of Secrets that the API server knows; other types are allowed. */
export const secretTypes = {
  opaque: 'Opaque',
  serviceAccountToken: `${signer}/service-account-token`,
  dockerConfig: `${signer}/dockercfg`,
  dockerConfigJson: `${signer}/dockerconfigjson`,
  basicAuth: `${signer}/basic-auth`,
  sshAuth: `${signer}/ssh-auth`,
  tls: `${signer}/tls`,
} as const;

/** The annotations of a Secret of type service-account-token that name its ServiceAccount. */
export const serviceAccountNameAnnotation = `${signer}/service-account.name`;
export const serviceAccountUidAnnotation = `${signer}/service-account.uid`;

/** Labels of Secrets with tokens: the day of last use, and the day since which the token is rejected (`2026-01-31`). */
export const legacyTokenLastUsedLabel = `${signer}/legacy-token-last-used`;
export const legacyTokenInvalidSinceLabel = `${signer}/legacy-token-invalid-since`;

/** The ConfigMap that records since when (`data.since`) the use of tokens in Secrets has been tracked. */
export const legacyTokenTracking = {
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
} as const;
