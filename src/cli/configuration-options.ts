import { defaultDomains } from '../api/domains.js';

/** Options of `kedge serve`, complete. Their meanings are told in config/server.yaml. */
export interface Configuration {
  host: string;
  port: number;
  dataDir: string;
  store?: string | undefined;
  controllers: 'all' | string[];
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  logFormat: 'auto' | 'pretty' | 'json';
  authorization: 'RBAC' | 'AlwaysAllow';
  anonymous: boolean;
  tokenFile?: string | undefined;
  serviceAccounts: {
    issuers: string[];
    apiAudiences: string[];
    verificationKeyFiles: string[];
    maxTokenSeconds: number;
  };
  signing: { seconds: number; certificateFile?: string | undefined; keyFile?: string | undefined };
  domains: { api: string; signer: string };
  graceMs: number;
}

/** What holds where neither a file nor a flag says otherwise. */
export const defaults: Configuration = {
  host: '127.0.0.1',
  port: 6_443,
  dataDir: './.kedge',
  controllers: 'all',
  logLevel: 'info',
  logFormat: 'auto',
  authorization: 'RBAC',
  anonymous: true,
  serviceAccounts: {
    issuers: ['https://kubernetes.default.svc'],
    apiAudiences: [],
    verificationKeyFiles: [],
    maxTokenSeconds: 0,
  },
  signing: { seconds: 31_536_000 },
  domains: { api: defaultDomains.api, signer: defaultDomains.signer },
  graceMs: 10_000,
};
