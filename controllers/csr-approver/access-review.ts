import { type Domains, groupIn } from '../../src/api/domains.js';
import { SubjectAccessReviews } from '../../src/api/kinds/access-review.js';
import type { CertificateSigningRequest } from '../../src/api/kinds/certificate-signing-request.js';
import { CertificateSigningRequests } from '../../src/api/kinds/certificate-signing-request.js';
import { groupVersion } from '../../src/api/object.js';
import type { Client } from '../../src/client/client.js';

/** Whether the requester may create this subresource of certificatesigningrequests. */
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
      ...(username === undefined ? {} : { user: username }),
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups }),
      ...(extra === undefined ? {} : { extra }),
      resourceAttributes: {
        // Clients do not rename groups within a spec.
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
