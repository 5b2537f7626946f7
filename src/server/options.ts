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

/** The options of a server. Each has a default that suits a server embedded in a program. */
export interface ServerOptions {
  /** A store, or its address: `memory:` (default), `level:DIR`, `etcd:[https://]HOST:PORT,...`. */
  readonly store?: string | Store;
  /** How the etcd of such an address is used. */
  readonly etcd?: EtcdOptions;
  /**
   * How objects are encrypted at such an address: a Kubernetes EncryptionConfiguration, as YAML or JSON. Read again when
   * its file changes. Default: not at all.
   */
  readonly encryptionConfiguration?: TextSource;
  /** Where keys and certificates are kept. Default: nowhere; they are made anew each time. */
  readonly dataDir?: string;
  /** Accept connections. Default: none; the server is reached in process only. */
  readonly listen?: {
    /** Default 127.0.0.1. */
    readonly host?: string;
    /** Default: a free one, as with 0. */
    readonly port?: number;
    /** Speak HTTP/2 with clients that offer it; false: only HTTP/1.1. Default true. */
    readonly http2?: boolean;
    /**
     * DNS names and addresses by which others reach the server, for its certificate. The first one is also where the
     * kubeconfig and the documents about tokens say it is. Default: the host, or with `0.0.0.0` and `::` this machine.
     */
    readonly servingNames?: readonly string[];
    /**
     * PEM files of a serving certificate that others issue and renew (with its chain), of its key, and of the CAs that
     * clients verify it by, reloaded when they change. It must be for one of `servingNames`. Default: a certificate of the
     * server's own CA.
     */
    readonly serving?: ServingFiles;
    /** Limits of connections. */
    readonly limits?: Partial<ConnectionLimits>;
  };
  /** Called once connections are accepted, and awaited before controllers start. Needs `listen`. */
  readonly onListening?: (listening: { readonly url: string; readonly adminKubeconfig: string }) => Promise<void>;
  /** Called whenever certificates were renewed because those in use expire soon. Needs `listen`. */
  readonly onRenewed?: (renewed: { readonly adminKubeconfig: string }) => Promise<void>;
  /** Called once if the store fails permanently: then stop the server and start another. */
  readonly onFailed?: (failure: Error) => void;
  /**
   * Names of the built-in controllers to run, or all. Without `crd-names`, `crd-established` and `crd-finalizer` nothing that
   * is defined is served. Default: all.
   */
  readonly controllers?: 'all' | readonly string[];
  /** Signers beyond the well-known ones. */
  readonly signers?: readonly Signer[];
  /** Default: no log. */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly domains?: Domains;
  /** Features to switch on or off. Defaults are those of Kubernetes 1.36. */
  readonly featureGates?: Partial<FeatureGates>;
  /** The server of this kubeconfig file gets TokenReviews for bearer tokens that are not recognised here. */
  readonly authenticationWebhook?: { readonly kubeconfig: string; readonly cacheSeconds?: number };
  /** The server of this kubeconfig file gets SubjectAccessReviews for the mode `Webhook`. */
  readonly authorizationWebhook?: {
    readonly kubeconfig: string;
    readonly allowedSeconds?: number;
    readonly refusedSeconds?: number;
  };
  /**
   * Addresses of the services that webhook configurations and custom resource definitions name: `namespace/name` or
   * `namespace/name:port` to `host:port`. Default: none; such webhooks cannot be reached.
   */
  readonly webhookServices?: Readonly<Record<string, string>>;
  /**
   * Kubeconfig file with the credentials that the server presents to admission webhooks, in users named like the
   * webhooks (`name.namespace.svc`, `host:port`, `*.example.org`, `*`). Default: none.
   */
  readonly webhookKubeconfig?: string;
  /** Authorization modes, in the order they are asked. Default Node, then RBAC. */
  readonly authorization?: AuthorizationMode | readonly AuthorizationMode[];
  /**
   * Authorizers, in the order they are asked, with any number of webhooks: a Kubernetes AuthorizationConfiguration, as YAML
   * or JSON, in place of `authorization` and `authorizationWebhook`. Read again when its file changes.
   */
  readonly authorizationConfiguration?: TextSource;
  /** Restrict what node agents may write to their own objects. Default: if `Node` is among the modes. */
  readonly nodeRestriction?: boolean;
  /** Let callers without credentials in as `system:anonymous`, everywhere or to some paths. Default true. */
  readonly anonymous?: AnonymousPolicy;
  /** PEM of CAs whose client certificates are accepted, besides those of the server's own CA. */
  readonly clientCa?: TextSource;
  /** Trust a front proxy to say who is calling. */
  readonly frontProxy?: FrontProxySettings;
  /** Issuers of JWTs and where anonymous requests may go: a Kubernetes AuthenticationConfiguration, as YAML or JSON. */
  readonly authenticationConfiguration?: TextSource;
  /** Issuers of service account tokens; the first signs. */
  readonly serviceAccountIssuers?: readonly string[];
  /** Service account tokens are accepted if they are for one of these. Default: the first issuer. */
  readonly apiAudiences?: readonly string[];
  /** Longest lifetime of service account tokens, in seconds; at least 3600. Default: no limit. */
  readonly serviceAccountMaxTokenSeconds?: number;
  /** PEM of the key that signs service account tokens. Default: a key generated at the first start. */
  readonly serviceAccountSigningKey?: TextSource;
  /** PEM of further keys that verify service account tokens. */
  readonly serviceAccountVerificationKeys?: readonly TextSource[];
  /** URI where relying parties find the keys, if not at this server. */
  readonly serviceAccountKeySetUri?: string;
  /** Extend pod tokens requested for the usual hour to a year. Default true. */
  readonly extendServiceAccountTokens?: boolean;
  /** Static tokens (CSV: token, user, uid, "group,group"). */
  readonly staticTokens?: TextSource;
  /** Longest (and default) lifetime of certificates from the well-known signers, in seconds; at least 600. Default a year. */
  readonly signingSeconds?: number;
  /** PEM files of the CA for the well-known signers, reloaded when they change. Default: the server's own CA. */
  readonly signingCaFiles?: { readonly certificateFile: string; readonly keyFile: string };
  /** Signers by configuration, rules for approval, and distribution of trust. */
  readonly certificates?: CertificateOptions;
  /** Counting, recording and limiting requests. */
  readonly operations?: OperationsOptions;
  /** How long events are kept after they were last written, in seconds; 0: for ever. Default 3600. */
  readonly eventTtlSeconds?: number;
  /** For tests: sees every request that is allowed before it is served. */
  readonly intercept?: Intercept;
  /** How long a stopping server keeps serving while it reports that it is not ready, in milliseconds. Default 0. */
  readonly shutdownDelayMs?: number;
  /** How long a stopping server lets requests finish, in milliseconds. Default 10,000. */
  readonly graceMs?: number;
}

/** Ways to decide what callers may do. */
export type AuthorizationMode = (typeof authorizationModes)[number];

export const authorizationModes = [
  /** Node agents, by the pods that run on their node. */
  'Node',
  /** Roles and their bindings. */
  'RBAC',
  /** A remote server; needs `authorizationWebhook`. */
  'Webhook',
  /** Allows everything. */
  'AlwaysAllow',
  /** Allows the administrators' group only. */
  'AlwaysDeny',
] as const;
