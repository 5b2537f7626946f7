import { type CertificateAuthority, defineSigner, type Signer } from 'kedge';

const oneHour = 3_600;

/** Signs short-lived client certificates for CI jobs; refuses all other requesters. */
export const ciSigner = (ca: CertificateAuthority): Signer =>
  defineSigner({
    serves: 'example.com/ci',
    maxSeconds: oneHour,

    validate(_, { requester, usages }) {
      if (!requester.groups.includes('ci:jobs')) {
        return { refused: `${requester.username} is not a CI job`, reason: 'RequesterNotAllowed' };
      }
      if (!usages.every((usage) => usage === 'client auth' || usage === 'digital signature')) {
        return { refused: 'only client certificates are issued here', reason: 'UsageNotAllowed' };
      }
      return undefined;
    },

    issue: (request, { seconds, signing }) => ca.issue(request, { seconds, usages: signing.usages }),

    trustAnchors: async () => ca.anchors,
  });
