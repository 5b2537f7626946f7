import { kedgeNames } from '../api/kedge-names.js';
import { defaultInFlightLimits } from '../apiserver/operations/in-flight.js';
import { defaultProxyHeaders } from '../auth/proxy-headers.js';
import { defaultConnectionLimits } from '../http/connection-limits.js';
import { defaultCertificateSeconds } from '../pki/validity.js';
import { etcdDefaults } from '../store/etcd/etcd-options.js';

/**
 * Defaults of options, in a program as in the file of `kedge serve`. The default of an option of a part that can be
 * used without the server is declared with that part.
 */
export const optionDefaults = {
  etcd: etcdDefaults,
  host: '127.0.0.1',
  connectionLimits: defaultConnectionLimits,
  authorization: ['Node', 'RBAC'],
  authenticationWebhook: { cacheSeconds: 120 },
  authorizationWebhook: { allowedSeconds: 300, refusedSeconds: 30 },
  proxyHeaders: defaultProxyHeaders,
  serviceAccountIssuers: ['https://kubernetes.default.svc'],
  signingSeconds: defaultCertificateSeconds,
  trustOwner: kedgeNames.trustOwner,
  audit: { maxSizeMb: 100, maxBackups: 10, maxAgeDays: 0 },
  auditWaitSeconds: 30,
  inFlight: defaultInFlightLimits,
  requestTimeoutMs: 60_000,
  eventTtlSeconds: 3_600,
  ledgerRetentionDays: 0,
  graceMs: 10_000,
} as const;
