import { PodCertificateRequests } from '../../src/api/kinds/pod-certificate-request.js';
import { defineCleaner } from '../../src/controller/cleaner.js';
import type { Runnable } from '../../src/controller/controller.js';

/** Nodes request certificates, and read them, in less time than this. */
const lifeMs = 15 * 60_000;

/** Deletes requests for pod certificates 15 minutes after they were created, whatever their outcome. */
export const podCertificateCleaner = (): Runnable =>
  defineCleaner({
    name: 'pod-certificate-cleaner',
    for: PodCertificateRequests,
    metadataOnly: true,
    expiresAt: ({ metadata: { creationTimestamp: created } }) =>
      created === undefined ? undefined : Date.parse(created) + lifeMs,
    message: 'deleted a pod certificate request',
  });
