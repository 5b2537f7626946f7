import { type Domains, defaultDomains } from '../../api/domains.js';
import { type ClusterTrustBundle, ClusterTrustBundles } from '../../api/kinds/cluster-trust-bundle.js';
import { signerNameViolations } from '../../api/signer-name.js';
import type { Steps } from '../../api/steps.js';
import { invalid, type Violation } from '../../api/violations.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { field, string, structsOf } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import type { Schema } from '../../schema/schema.js';
import { column } from '../columns.js';
import { anchorViolations } from './anchors.js';
import { wrongBundleName } from './bundle-name.js';

/** Returns the schema of a version; versions differ only in their name. */
const schemaOf = (version: string): Schema => {
  const struct = structsOf(`io.k8s.api.certificates.${version}`);
  return struct(
    'ClusterTrustBundle',
    {
      ...objectMembers,
      spec: field(
        2,
        struct(
          'ClusterTrustBundleSpec',
          {
            signerName: field(1, string(), {
              description:
                "Signer of the anchors, such as example.com/roots; a prefix of the object's name. Can be used in field selectors. Immutable.",
            }),
            trustBundle: field(2, string(), {
              presence: 'always',
              description: 'X.509 CA certificates, as PEM blocks of type CERTIFICATE without duplicates.',
            }),
          },
          {
            required: ['trustBundle'],
            description: 'Trust anchors, and the signer they belong to.',
          },
        ),
        { description: 'Trust anchors, and the signer they belong to.' },
      ),
    },
    {
      required: ['spec'],
      description: 'Set of X.509 trust anchors, with or without an associated signer.',
    },
  );
};

function* violations(next: ClusterTrustBundle, previous: ClusterTrustBundle | undefined): Steps<readonly Violation[]> {
  const { signerName = '', trustBundle = '' } = next.spec ?? {};
  const unchanged = previous !== undefined && trustBundle === (previous.spec?.trustBundle ?? '');
  return [
    ...(signerName === '' ? [] : signerNameViolations('spec.signerName', signerName)),
    ...(unchanged ? [] : yield* anchorViolations(trustBundle)),
  ];
}

function changeViolations({ spec }: ClusterTrustBundle, previous: ClusterTrustBundle): readonly Violation[] {
  const signerName = spec?.signerName ?? '';
  if (signerName === (previous.spec?.signerName ?? '')) return [];
  return [invalid('spec.signerName', signerName, 'field is immutable')];
}

/** Returns the definition of ClusterTrustBundle in one version, whose group these domains name. */
export const clusterTrustBundleDefinition = ({
  version = ClusterTrustBundles.version,
  domains = defaultDomains,
}: {
  readonly version?: string;
  readonly domains?: Domains;
} = {}): ResourceDefinition<ClusterTrustBundle> =>
  defineResource<ClusterTrustBundle>({
    ...ClusterTrustBundles,
    group: `certificates.${domains.api}`,
    version,
    origin: 'built-in',
    schema: schemaOf(version),
    updateRules: ['metadata', 'contents', 'metadata change', 'change'],
    nameRuleOf:
      ({ spec }) =>
      (name, options) =>
        wrongBundleName(name, spec?.signerName ?? '', options),
    selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
    columns: [
      column(
        'SignerName',
        // The description goes over the wire, in Kubernetes' words.
        "signerName indicates the associated signer, if any.\n\nIn order to create or update a ClusterTrustBundle that sets signerName, you must have the following cluster-scoped permission: group=certificates.k8s.io resource=signers resourceName=<the signer name> verb=attest.\n\nIf signerName is not empty, then the ClusterTrustBundle object must be named with the signer name as a prefix (translating slashes to colons). For example, for the signer name `example.com/foo`, valid ClusterTrustBundle object names include `example.com:foo:abc` and `example.com:foo:v1`.\n\nIf signerName is empty, then the ClusterTrustBundle object's name must not have such a prefix.\n\nList/watch requests for ClusterTrustBundles can filter on this field using a `spec.signerName=NAME` field selector.",
        ({ spec }: ClusterTrustBundle) => spec?.signerName || '<none>',
      ),
    ],
    validate: violations,
    validateChange: changeViolations,
  });
