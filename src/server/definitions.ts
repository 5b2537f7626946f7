import { admissionMetrics } from '../admission/admission-metrics.js';
import { AdmissionChain } from '../admission/chain.js';
import { defaultChain } from '../admission/default-chain.js';
import type { Domains } from '../api/domains.js';
import type { CertificateSigningRequest } from '../api/kinds/certificate-signing-request.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { ObjectSource } from '../auth/object-source.js';
import type { Rbac } from '../auth/rbac.js';
import type { Signer } from '../pki/signer.js';
import { definitionIn } from '../registry/in-domain.js';
import { overlapping } from '../registry/keys.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { certificateLedgerEntries } from '../resources/certificateledgerentries/definition.js';
import { certificateSigningRequestDefinition } from '../resources/certificatesigningrequests/definition.js';
import { clusterTrustBundleDefinition } from '../resources/clustertrustbundles/definition.js';
import { customResourceDefinitions } from '../resources/customresourcedefinitions/definition.js';
import { builtinDefinitions } from '../resources/index.js';
import { podCertificateRequestDefinition } from '../resources/podcertificaterequests/definition.js';
import { authenticationReviews, authorizationReviews } from '../resources/reviews/index.js';
import { serviceAccountToken } from '../resources/serviceaccounts/token.js';
import type { Clock } from '../runtime/clock.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Authentication } from './authentication.js';
import { requestedDurations } from './certificate-metrics.js';
import { deniedRequests } from './signer-metrics.js';
import type { Webhooks } from './webhooks.js';

export interface DefinitionParts {
  readonly authentication: Authentication;
  readonly authorizer: Authorizer;
  readonly roles: Rbac;
  readonly objects: ObjectSource;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly nodeRestriction: boolean;
  readonly maxTokenSeconds: number | undefined;
  readonly extendTokens: boolean | undefined;
  readonly metrics: Metrics | undefined;
  /** The configured signers, which are labels in metrics of requests. */
  readonly signers: readonly Pick<Signer, 'serves'>[];
  readonly webhooks: Pick<Webhooks, 'mutating' | 'validating'>;
}

/** Returns the built-in kinds with the services that they use, and the admission steps. */
export function openDefinitions(parts: DefinitionParts): {
  readonly definitions: readonly ResourceDefinition[];
  readonly admission: AdmissionChain;
} {
  const { authentication, authorizer, roles, objects, domains, clock, metrics } = parts;
  const { apiAudiences, authenticator, issuer } = authentication;
  const definitions: readonly ResourceDefinition[] = builtinDefinitions({
    domains,
    token: serviceAccountToken({
      domains,
      objects,
      issuer,
      apiAudiences,
      maxSeconds: parts.maxTokenSeconds,
      extend: parts.extendTokens,
    }),
    authenticationReviews: authenticationReviews({ authenticator, apiAudiences }),
    authorizationReviews: authorizationReviews({ authorizer }),
    certificates: [
      certificateSigningRequestDefinition(
        domains,
        metrics && requestMetrics(metrics, parts),
      ) as object as ResourceDefinition,
      clusterTrustBundleDefinition({ domains }) as object as ResourceDefinition,
      podCertificateRequestDefinition(domains) as object as ResourceDefinition,
      certificateLedgerEntries as object as ResourceDefinition,
    ],
    extensions: [
      customResourceDefinitions({
        domains,
        isBuiltIn: (group, plural) => overlapping(definitions)(group, plural),
      }) as object as ResourceDefinition,
    ],
  }).map((definition) => definitionIn(domains, definition));
  return {
    definitions,
    admission: new AdmissionChain(
      defaultChain({
        authorizer,
        rbac: roles,
        objects,
        domains,
        clock,
        nodeRestriction: parts.nodeRestriction,
        mutating: parts.webhooks.mutating,
        validating: parts.webhooks.validating,
      }),
      metrics && admissionMetrics(metrics, clock),
    ),
  };
}

/** Counts the outcomes of certificate requests, regardless of who decides them. */
function requestMetrics(
  metrics: Metrics,
  { domains, signers }: Pick<DefinitionParts, 'domains' | 'signers'>,
): (next: CertificateSigningRequest, previous: CertificateSigningRequest) => void {
  const counts = [requestedDurations(metrics, domains), deniedRequests(metrics, signers)];
  return (next, previous) => {
    for (const count of counts) count(next, previous);
  };
}
