import { type Domains, defaultDomains, groupIn } from '../../src/api/domains.js';
import type { CertificateSigningRequest } from '../../src/api/kinds/certificate-signing-request.js';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { type ApiObject, groupVersion, resourceType } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';

interface SubjectAccessReview extends ApiObject {
  readonly status?: { readonly allowed?: boolean };
}

const SubjectAccessReviews = resourceType<SubjectAccessReview>({
  group: `authorization.${defaultDomains.api}`,
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
});

/** May the one who made the request create this subresource of certificatesigningrequests? */
export async function requesterMay(
  client: Client,
  { spec }: CertificateSigningRequest,
  subresource: string,
  domains: Domains,
): Promise<boolean> {
  const { username, uid, groups, extra } = spec;
  const review = await client.resource(SubjectAccessReviews).create({
    apiVersion: groupVersion(SubjectAccessReviews),
    kind: SubjectAccessReviews.kind,
    metadata: {},
    spec: {
      user: username,
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
      resourceAttributes: {
        // No client renames what stands in a spec.
        group: groupIn(domains, CertificateSigningRequests.group),
        resource: CertificateSigningRequests.plural,
        verb: 'create',
        subresource,
        version: '*',
      },
    },
  });
  return review.status?.allowed === true;
}
