import type { PolicyRule } from '../../controllers/csr-policy-approver/policy.js';
import type { TrustBundle } from '../../controllers/trust-distributor/trust-bundle.js';
import { defaultDomains } from '../api/domains.js';
import { optionDefaults } from '../server/option-defaults.js';
import type { AuthorizationMode } from '../server/options.js';
import type { ConfiguredSigner } from '../server/signing-options.js';

/** All options of `kedge serve`; config/server.yaml documents them. */
export interface Configuration {
  host: string;
  port: number;
  http2: boolean;
  servingNames: string[];
  serving: { certificateFile?: string | undefined; keyFile?: string | undefined; caFile?: string | undefined };
  dataDir: string;
  store?: string | undefined;
  etcd: {
    caFile?: string | undefined;
    certificateFile?: string | undefined;
    keyFile?: string | undefined;
    user?: string | undefined;
    passwordFile?: string | undefined;
    prefix: string;
    compactionSeconds: number;
  };
  encryptionConfigFile?: string | undefined;
  controllers: 'all' | string[];
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'auto' | 'pretty' | 'json';
  authorization?: AuthorizationMode | AuthorizationMode[] | undefined;
  authorizationConfigFile?: string | undefined;
  nodeRestriction?: boolean | undefined;
  authorizationWebhook: { kubeconfig?: string | undefined; allowedSeconds: number; refusedSeconds: number };
  anonymous: boolean;
  clientCaFile?: string | undefined;
  tokenFile?: string | undefined;
  authenticationConfigFile?: string | undefined;
  authenticationWebhook: { kubeconfig?: string | undefined; cacheSeconds: number };
  frontProxy: {
    caFile?: string | undefined;
    allowedNames: string[];
    usernameHeaders: string[];
    uidHeaders: string[];
    groupHeaders: string[];
    extraHeaderPrefixes: string[];
  };
  serviceAccounts: {
    issuers: string[];
    apiAudiences: string[];
    signingKeyFile?: string | undefined;
    verificationKeyFiles: string[];
    keySetUri?: string | undefined;
    maxTokenSeconds: number;
    extendTokens: boolean;
  };
  signing: {
    seconds: number;
    certificateFile?: string | undefined;
    keyFile?: string | undefined;
    signers: ConfiguredSigner[];
  };
  certificatePolicy: { mode: 'enforce' | 'shadow'; default: 'leave' | 'deny'; rules: PolicyRule[] };
  trust: { distribute: boolean; owner: string; secretTargets: boolean; bundles: TrustBundle[] };
  domains: { api: string; signer: string };
  webhookServices: { service: string; address: string }[];
  webhookKubeconfig?: string | undefined;
  featureGates: { ShardedListAndWatch: boolean };
  metrics: boolean;
  audit: {
    policyFile?: string | undefined;
    logFile: string;
    maxSizeMb: number;
    maxBackups: number;
    maxAgeDays: number;
    webhook: { kubeconfig?: string | undefined; waitSeconds: number };
  };
  limits: {
    readOnlyRequests: number;
    mutatingRequests: number;
    watches: number;
    requestTimeoutMs: number;
    connections: number;
    headerBytes: number;
    headersMs: number;
    idleMs: number;
  };
  ledgerRetentionDays: number;
  eventTtlSeconds: number;
  shutdownDelayMs: number;
  graceMs: number;
}

const { connectionLimits, inFlight, proxyHeaders } = optionDefaults;

/** The defaults of options that neither the file nor a flag sets. */
export const defaults: Configuration = {
  host: optionDefaults.host,
  port: 6_443,
  http2: true,
  servingNames: [],
  serving: {},
  dataDir: './.kedge',
  etcd: optionDefaults.etcd,
  controllers: 'all',
  logLevel: 'info',
  logFormat: 'auto',
  authorizationWebhook: optionDefaults.authorizationWebhook,
  anonymous: true,
  authenticationWebhook: optionDefaults.authenticationWebhook,
  frontProxy: {
    allowedNames: [],
    usernameHeaders: [...proxyHeaders.usernameHeaders],
    uidHeaders: [...proxyHeaders.uidHeaders],
    groupHeaders: [...proxyHeaders.groupHeaders],
    extraHeaderPrefixes: [...proxyHeaders.extraHeaderPrefixes],
  },
  serviceAccounts: {
    issuers: [...optionDefaults.serviceAccountIssuers],
    apiAudiences: [],
    verificationKeyFiles: [],
    maxTokenSeconds: 0,
    extendTokens: true,
  },
  signing: { seconds: optionDefaults.signingSeconds, signers: [] },
  certificatePolicy: { mode: 'enforce', default: 'leave', rules: [] },
  trust: { distribute: false, owner: optionDefaults.trustOwner, secretTargets: false, bundles: [] },
  domains: { api: defaultDomains.api, signer: defaultDomains.signer },
  webhookServices: [],
  featureGates: { ShardedListAndWatch: false },
  metrics: true,
  audit: { logFile: '-', ...optionDefaults.audit, webhook: { waitSeconds: optionDefaults.auditWaitSeconds } },
  limits: {
    readOnlyRequests: inFlight.readOnly,
    mutatingRequests: inFlight.mutating,
    watches: inFlight.watches,
    requestTimeoutMs: optionDefaults.requestTimeoutMs,
    connections: connectionLimits.connections,
    headerBytes: connectionLimits.headerBytes,
    headersMs: connectionLimits.headersMs,
    idleMs: connectionLimits.idleMs,
  },
  ledgerRetentionDays: optionDefaults.ledgerRetentionDays,
  eventTtlSeconds: optionDefaults.eventTtlSeconds,
  shutdownDelayMs: 0,
  graceMs: optionDefaults.graceMs,
};
