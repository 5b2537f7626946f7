import {
  defaultPodCertificateSeconds,
  type PodCertificateRequest,
} from '../../src/api/kinds/pod-certificate-request.js';
import { TerminalError } from '../../src/controller/controller.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { podCertificateKey } from '../../src/pki/pod-certificate-key.js';
import type { PodSigningRequest } from '../../src/pki/pod-signing.js';
import type { PublicKey } from '../../src/pki/public-key.js';

/**
 * Reduces a request, for memory, to the fields that decide whether there is something to do for it, since when, and by
 * whom.
 */
export const podRequestOutline = ({
  apiVersion,
  kind,
  metadata: { namespace, name, uid, resourceVersion, creationTimestamp },
  spec,
  status,
}: PodCertificateRequest): PodCertificateRequest => ({
  apiVersion,
  kind,
  metadata: { namespace, name, uid, resourceVersion, creationTimestamp },
  spec: { signerName: spec.signerName ?? '' },
  status: { conditions: status?.conditions ?? [] },
});

/** Returns the input of a signer. Throws TerminalError if the key cannot be read. */
export function podSigningRequest({ metadata, spec }: PodCertificateRequest): PodSigningRequest {
  return {
    signerName: spec.signerName ?? '',
    namespace: metadata.namespace ?? '',
    pod: { name: spec.podName ?? '', uid: spec.podUID ?? '' },
    serviceAccount: { name: spec.serviceAccountName ?? '', uid: spec.serviceAccountUID ?? '' },
    node: { name: spec.nodeName ?? '', uid: spec.nodeUID ?? '' },
    publicKey: keyOf(spec),
    annotations: spec.unverifiedUserAnnotations ?? {},
    maxSeconds: spec.maxExpirationSeconds ?? defaultPodCertificateSeconds,
    uid: metadata.uid ?? '',
  };
}

function keyOf(spec: PodCertificateRequest['spec']): PublicKey {
  try {
    return podCertificateKey(spec);
  } catch (error) {
    if (error instanceof PkiError)
      throw new TerminalError(`unable to read the key: ${error.message}`, { cause: error });
    throw error;
  }
}
