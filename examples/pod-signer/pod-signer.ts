import { type CertificateAuthority, defineSigner, podRefusals, type Signer, spiffeId } from 'kedge';

const service = 'example.com/service';

/** Signs certificates for pods, valid for at most a day, with the account as SPIFFE ID and optionally a service name. */
export const podSigner = (ca: CertificateAuthority): Signer =>
  defineSigner({
    serves: 'example.com/pods',
    maxSeconds: 86_400,

    pods: {
      annotations: [service],

      validate({ publicKey, annotations }) {
        if (publicKey.kind === 'RSA') return { refused: 'ask for ECDSAP256', reason: podRefusals.key };
        const requested = annotations[service];
        return requested === undefined || /^[a-z][-a-z0-9]{0,61}[a-z0-9]$/.test(requested)
          ? undefined
          : { refused: `${requested} is no name of a service`, reason: podRefusals.annotations };
      },

      issue(request, { seconds }) {
        const { publicKey, namespace, annotations } = request;
        const names = annotations[service] === undefined ? [] : [`${annotations[service]}.${namespace}.svc`];
        const usages = ['digital signature', 'client auth', 'server auth'];
        return ca.issueForPod(
          { publicKey, uris: [spiffeId('example.com', request)], dnsNames: names },
          { seconds, usages },
        );
      },
    },

    trustAnchors: async () => ca.anchors,
  });
