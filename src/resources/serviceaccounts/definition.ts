import { type Domains, defaultDomains, signerKeyIn } from '../../api/domains.js';
import {
  enforceMountableSecretsAnnotation,
  type ServiceAccount,
  ServiceAccounts,
} from '../../api/kinds/service-account.js';
import { nameRules } from '../../api/names.js';
import { mapKey } from '../../api/violations.js';
import { defineResource, type ResourceDefinition, type SubresourceAction } from '../../registry/resource-definition.js';
import { boolean, field, list, listMap, optional } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { age } from '../columns.js';
import { coreStruct } from '../core-struct.js';
import { localObjectReference, objectReference } from '../object-reference-schema.js';

export const serviceAccountSchema = coreStruct(
  'ServiceAccount',
  {
    ...objectMembers,
    secrets: field(2, listMap(objectReference, ['name']), {
      description: 'Secrets that pods of this service account may use.',
    }),
    imagePullSecrets: field(3, list(localObjectReference, { listType: 'atomic' }), {
      description: 'Secrets with credentials for pulling images in pods of this service account.',
    }),
    automountServiceAccountToken: optional(4, boolean(), {
      description:
        'Whether a token is mounted into pods of this service account; true by default. Pods can override it.',
    }),
  },
  { description: 'Identity for processes that run in pods.' },
);

/** Keeps only the names in the references to Secrets. */
function withBareSecrets(account: ServiceAccount): ServiceAccount {
  const { secrets } = account;
  if (secrets === undefined) return account;
  return { ...account, secrets: secrets.map(({ name }) => (name ? { name } : {})) };
}

const hasAnnotation = ({ metadata }: ServiceAccount, name: string): boolean =>
  metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, name);

/** Returns the definition of ServiceAccount. `token` handles TokenRequests for an account. */
export const serviceAccounts = ({
  token,
  domains = defaultDomains,
}: {
  readonly token?: SubresourceAction;
  readonly domains?: Domains;
} = {}): ResourceDefinition<ServiceAccount> => {
  const annotation = signerKeyIn(domains, enforceMountableSecretsAnnotation);
  return defineResource<ServiceAccount>({
    ...ServiceAccounts,
    origin: 'built-in',
    schema: serviceAccountSchema,
    nameRule: nameRules.dnsSubdomain,
    unconditionalUpdate: true,
    returnsDeleted: true,
    columns: [age],
    ...(token === undefined ? {} : { subresources: { token } }),

    prepare: withBareSecrets,

    warnings: (next, previous) =>
      hasAnnotation(next, annotation) && !(previous !== undefined && hasAnnotation(previous, annotation))
        ? [
            `${mapKey('metadata.annotations', annotation)}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
          ]
        : [],
  });
};
