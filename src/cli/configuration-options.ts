import type { PolicyRule } from '../../controllers/csr-policy-approver/policy.js';
import type { TrustBundle } from '../../controllers/trust-distributor/trust-bundle.js';
import { defaultDomains } from '../api/domains.js';
import type { AuthorizationMode } from '../server/options.js';
import type { ConfiguredSigner } from '../server/signing-options.js';

/** Options of `kedge serve`, complete. Their meanings are told in config/server.yaml. */
export interface Configuration {
  host: string;
  port: number;
  http2: boolean;
  servingNames: string[];
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
  controllers: 'all' | string[];
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'auto' | 'pretty' | 'json';
  authorization: AuthorizationMode | AuthorizationMode[];
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
  audit: { policyFile?: string | undefined; logFile: string; maxSizeMb: number; maxBackups: number };
  limits: {
    readOnlyRequests: number;
    mutatingRequests: number;
    requestTimeoutMs: number;
    connections: number;
    headerBytes: number;
    headersMs: number;
    idleMs: number;
  };
  eventTtlSeconds: number;
  shutdownDelayMs: number;
  graceMs: number;
}

/** What holds where neither a file nor a flag says otherwise. */
export const defaults: Configuration = {
  host: '127.0.0.1',
  port: 6_443,
  http2: true,
  servingNames: [],
  dataDir: './.kedge',
  etcd: { prefix: '/kedge', compactionSeconds: 300 },
  controllers: 'all',
  logLevel: 'info',
  logFormat: 'auto',
  authorization: ['Node', 'RBAC'],
  authorizationWebhook: { allowedSeconds: 300, refusedSeconds: 30 },
  anonymous: true,
  authenticationWebhook: { cacheSeconds: 120 },
  frontProxy: {
    allowedNames: [],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  },
  serviceAccounts: {
    issuers: ['https://kubernetes.default.svc'],
    apiAudiences: [],
    verificationKeyFiles: [],
    maxTokenSeconds: 0,
    extendTokens: true,
  },
  signing: { seconds: 31_536_000, signers: [] },
  certificatePolicy: { mode: 'enforce', default: 'leave', rules: [] },
  trust: { distribute: false, owner: 'kedge', secretTargets: false, bundles: [] },
  domains: { api: defaultDomains.api, signer: defaultDomains.signer },
  webhookServices: [],
  featureGates: { ShardedListAndWatch: false },
  metrics: true,
  audit: { logFile: '-', maxSizeMb: 100, maxBackups: 10 },
  limits: {
    readOnlyRequests: 400,
    mutatingRequests: 200,
    requestTimeoutMs: 60_000,
    connections: 10_000,
    headerBytes: 131_072,
    headersMs: 32_000,
    idleMs: 90_000,
  },
  eventTtlSeconds: 3_600,
  shutdownDelayMs: 0,
  graceMs: 10_000,
};
