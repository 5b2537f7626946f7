import type { Domains } from '../api/domains.js';
import type { FeatureGates } from '../apiserver/feature-gates.js';
import type { Intercept } from '../apiserver/intercept.js';
import type { AnonymousPolicy } from '../auth/anonymous.js';
import type { ConnectionLimits } from '../http/connection-limits.js';
import type { Signer } from '../pki/signer.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { TextSource } from '../runtime/text-source.js';
import type { EtcdOptions } from '../store/etcd/etcd-options.js';
import type { Store } from '../store/store.js';
import type { FrontProxySettings } from './authentication.js';
import type { OperationsOptions } from './operations.js';
import type { ServingFiles } from './serving-files.js';
import type { CertificateOptions } from './signing-options.js';

/** Options of a server. All have defaults that suit a server embedded in a program. */
export interface ServerOptions {
  /** Store of the objects, or its address: `memory:` (the default), `level:DIR`, or `etcd:[https://]HOST:PORT,...`. */
  readonly store?: string | Store;
  /** Options for the etcd of such an address. */
  readonly etcd?: EtcdOptions;
  /**
   * Encryption of the objects at such an address: a Kubernetes EncryptionConfiguration, as YAML or JSON. Read again
   * when its file changes. Not encrypted by default.
   */
  readonly encryptionConfiguration?: TextSource;
  /** Directory of keys and certificates. By default they are kept in memory and created at every start. */
  readonly dataDir?: string;
  /** How the server accepts connections. By default it accepts none and can only be used from this process. */
  readonly listen?: {
    /** Address to listen on; `127.0.0.1` by default. */
    readonly host?: string;
    /** Port to listen on; by default, and for 0, a free one. */
    readonly port?: number;
    /** Whether HTTP/2 is offered to clients, in addition to HTTP/1.1; true by default. */
    readonly http2?: boolean;
    /**
     * DNS names and IP addresses by which clients reach the server, for its certificate. The first one is also used in
     * the kubeconfig and in the discovery documents about tokens. By default the host, or for `0.0.0.0` and `::` the
     * names of this machine.
     */
    readonly servingNames?: readonly string[];
    /**
     * PEM files of a serving certificate that others issue and renew: the certificate with its chain, its key, and the
     * CAs that clients verify it with. They are reloaded when they change. The certificate must be for one of
     * `servingNames`. By default a certificate of the server's own CA is used.
     */
    readonly serving?: ServingFiles;
    /** Limits of connections. */
    readonly limits?: Partial<ConnectionLimits>;
  };
  /** Called once connections are accepted; controllers start after the promise has resolved. Requires `listen`. */
  readonly onListening?: (listening: { readonly url: string; readonly adminKubeconfig: string }) => Promise<void>;
  /** Called whenever certificates were renewed because the previous ones expire soon. Requires `listen`. */
  readonly onRenewed?: (renewed: { readonly adminKubeconfig: string }) => Promise<void>;
  /** Called once if the store fails permanently. The program should then stop the server and start another one. */
  readonly onFailed?: (failure: Error) => void;
  /**
   * Names of the built-in controllers to run, or all (the default). Without `crd-names`, `crd-established` and
   * `crd-finalizer`, custom resources are not served.
   */
  readonly controllers?: 'all' | readonly string[];
  /** Signers in addition to the well-known ones. */
  readonly signers?: readonly Signer[];
  /** Logger of the server; nothing is logged by default. */
  readonly log?: Logger;
  /** Clock of the server; that of the system by default. */
  readonly clock?: Clock;
  /** Domain names of API groups and well-known names; those of Kubernetes by default. */
  readonly domains?: Domains;
  /** Features to enable or disable, by default as in Kubernetes 1.36. */
  readonly featureGates?: Partial<FeatureGates>;
  /**
   * Kubeconfig file of the server to which bearer tokens that are not recognised here are sent, as TokenReviews, and
   * how long its answers are cached (120 seconds by default).
   */
  readonly authenticationWebhook?: { readonly kubeconfig: string; readonly cacheSeconds?: number };
  /**
   * Kubeconfig file of the server to which SubjectAccessReviews are sent in the mode `Webhook`, and how long its
   * answers are cached: those that allow (300 seconds by default), and all others (30 seconds by default).
   */
  readonly authorizationWebhook?: {
    readonly kubeconfig: string;
    readonly allowedSeconds?: number;
    readonly refusedSeconds?: number;
  };
  /**
   * Addresses of the Services that webhook configurations and CustomResourceDefinitions name, as `host:port` by
   * `namespace/name` or `namespace/name:port`. Webhooks at other Services cannot be reached; there are none by default.
   */
  readonly webhookServices?: Readonly<Record<string, string>>;
  /**
   * Kubeconfig file with the credentials that the server presents to admission webhooks, in users that are named like
   * the webhooks (`name.namespace.svc`, `host:port`, `*.example.org`, `*`). None are presented by default.
   */
  readonly webhookKubeconfig?: string;
  /** Authorization modes, in the order in which they are tried; Node and RBAC by default. */
  readonly authorization?: AuthorizationMode | readonly AuthorizationMode[];
  /**
   * Authorizers in the order in which they are tried, with any number of webhooks: a Kubernetes
   * AuthorizationConfiguration, as YAML or JSON. Replaces `authorization` and `authorizationWebhook`. Read again when
   * its file changes.
   */
  readonly authorizationConfiguration?: TextSource;
  /**
   * Whether kubelets are restricted to writing their own objects; by default if `Node` is among the authorization
   * modes.
   */
  readonly nodeRestriction?: boolean;
  /**
   * Whether requests without credentials are accepted as `system:anonymous`, for all paths or for some; true by
   * default. They still need to be authorized.
   */
  readonly anonymous?: AnonymousPolicy;
  /** CAs in PEM whose client certificates are accepted, in addition to the server's own CA. */
  readonly clientCa?: TextSource;
  /** Proxy that authenticates callers and is trusted to pass on their identity. None is trusted by default. */
  readonly frontProxy?: FrontProxySettings;
  /** Issuers of JWTs, and paths for anonymous requests: a Kubernetes AuthenticationConfiguration, as YAML or JSON. */
  readonly authenticationConfiguration?: TextSource;
  /** Issuers of service account tokens. The first one signs tokens; all are accepted. */
  readonly serviceAccountIssuers?: readonly string[];
  /**
   * Audiences of this server: service account tokens are accepted if they are for one of these. By default the first
   * issuer.
   */
  readonly apiAudiences?: readonly string[];
  /** Maximum lifetime of service account tokens in seconds, at least 3600; unlimited by default. */
  readonly serviceAccountMaxTokenSeconds?: number;
  /** Private key in PEM that signs service account tokens; by default a key that is generated at the first start. */
  readonly serviceAccountSigningKey?: TextSource;
  /** Additional keys in PEM that verify service account tokens. */
  readonly serviceAccountVerificationKeys?: readonly TextSource[];
  /** URI at which relying parties find the keys of service account tokens; by default at this server. */
  readonly serviceAccountKeySetUri?: string;
  /** Whether tokens of pods that are requested for the usual hour are extended to a year; true by default. */
  readonly extendServiceAccountTokens?: boolean;
  /** Static tokens, as CSV with the columns token, user, uid and "group,group". */
  readonly staticTokens?: TextSource;
  /**
   * Maximum and default lifetime of certificates from the well-known signers in seconds, at least 600; a year by
   * default.
   */
  readonly signingSeconds?: number;
  /**
   * PEM files of the CA for the well-known signers, reloaded when they change; by default the server's own CA is used.
   */
  readonly signingCaFiles?: { readonly certificateFile: string; readonly keyFile: string };
  /** Additional signers, rules for approval, and distribution of trust anchors. */
  readonly certificates?: CertificateOptions;
  /** Metrics, audit log, and limits on requests. */
  readonly operations?: OperationsOptions;
  /**
   * Days for which the ledger keeps the record of a certificate after it has expired; 0, the default, keeps all records.
   */
  readonly ledgerRetentionDays?: number;
  /** Seconds for which events are kept after their last write, 3600 by default; 0 keeps them without limit. */
  readonly eventTtlSeconds?: number;
  /** Called for every authorized request before it is served. For tests. */
  readonly intercept?: Intercept;
  /**
   * Milliseconds for which a stopping server still serves requests while it reports that it is not ready; 0 by default.
   */
  readonly shutdownDelayMs?: number;
  /** Milliseconds that requests have to finish when the server stops; 10,000 by default. */
  readonly graceMs?: number;
}

/** Authorization mode: how the server decides what callers may do. */
export type AuthorizationMode = (typeof authorizationModes)[number];

export const authorizationModes = [
  /** Authorizes kubelets by the pods that run on their node. */
  'Node',
  /** Authorizes by roles and their bindings. */
  'RBAC',
  /** Asks a remote server. Requires `authorizationWebhook`. */
  'Webhook',
  /** Allows everything. */
  'AlwaysAllow',
  /** Allows only the group of administrators. */
  'AlwaysDeny',
] as const;
