import type { Domains } from '../api/domains.js';
import type { FeatureGates } from '../apiserver/feature-gates.js';
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
import type { CertificateOptions } from './signing-options.js';

/** What a server can be told. Everything has a default that suits a server embedded in a program. */
export interface ServerOptions {
  /** A store, or its address: `memory:` (default), `level:DIR`, `etcd:[https://]HOST:PORT,...`. */
  readonly store?: string | Store;
  /** How the etcd of such an address is used. */
  readonly etcd?: EtcdOptions;
  /** Where keys and certificates are kept. Default: nowhere; they are made anew each time. */
  readonly dataDir?: string;
  /** Accept connections. Default: none; the server is reached in process only. */
  readonly listen?: {
    /** Default 127.0.0.1. */
    readonly host?: string;
    /** Default: a free one, as with 0. */
    readonly port?: number;
    /** Speak HTTP/2 with callers who offer it; false: HTTP/1.1 alone. Default true. */
    readonly http2?: boolean;
    /**
     * DNS names and addresses by which others reach the server, for its certificate. The first one is also where the
     * kubeconfig and the documents about tokens say it is. Default: the host, or with `0.0.0.0` and `::` this machine.
     */
    readonly servingNames?: readonly string[];
    /** What callers may ask of connections. */
    readonly limits?: Partial<ConnectionLimits>;
  };
  /** Told once connections are accepted, and awaited before controllers start. Needs `listen`. */
  readonly onListening?: (listening: { readonly url: string; readonly adminKubeconfig: string }) => Promise<void>;
  /** Told whenever certificates were made anew because those in use have not long to go. Needs `listen`. */
  readonly onRenewed?: (renewed: { readonly adminKubeconfig: string }) => Promise<void>;
  /** Told once if the store fails for good: all that can be done is to stop the server, and to start another. */
  readonly onFailed?: (failure: Error) => void;
  /**
   * Names of the built-in controllers to run, or all. Without `crd-names`, `crd-established` and `crd-finalizer` nothing that
   * is defined is served. Default: all.
   */
  readonly controllers?: 'all' | readonly string[];
  /** Signers beyond the well-known ones. */
  readonly signers?: readonly Signer[];
  /** Default: says nothing. */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly domains?: Domains;
  /** What is off by default, or on, as in Kubernetes 1.36. */
  readonly featureGates?: Partial<FeatureGates>;
  /** Who is asked about tokens that nobody here knows: the server of a kubeconfig file, by TokenReviews. */
  readonly authenticationWebhook?: { readonly kubeconfig: string; readonly cacheSeconds?: number };
  /** Whom the mode `Webhook` asks: the server of a kubeconfig file, by SubjectAccessReviews. */
  readonly authorizationWebhook?: {
    readonly kubeconfig: string;
    readonly allowedSeconds?: number;
    readonly refusedSeconds?: number;
  };
  /**
   * Where the services are that webhook configurations and custom resource definitions name: `namespace/name` or
   * `namespace/name:port` to `host:port`. Default: nowhere; such webhooks cannot be reached.
   */
  readonly webhookServices?: Readonly<Record<string, string>>;
  /**
   * File of a kubeconfig whose users are what admission webhooks are shown of who asks, named like their webhooks
   * (`name.namespace.svc`, `host:port`, `*.example.org`, `*`). Default: nothing.
   */
  readonly webhookKubeconfig?: string;
  /** Who decides what callers may do, in the order they are asked. Default Node, then RBAC. */
  readonly authorization?: AuthorizationMode | readonly AuthorizationMode[];
  /** Keep node agents to what is theirs when they write. Default: if `Node` is among the modes. */
  readonly nodeRestriction?: boolean;
  /** Let callers without credentials in as `system:anonymous`, everywhere or to some paths. Default true. */
  readonly anonymous?: AnonymousPolicy;
  /** PEM of CAs whose client certificates count, beside the server's own CA. */
  readonly clientCa?: TextSource;
  /** Takes the word of a proxy for who is calling. */
  readonly frontProxy?: FrontProxySettings;
  /** Issuers of JWTs and where anonymous requests may go: a Kubernetes AuthenticationConfiguration, as YAML or JSON. */
  readonly authenticationConfiguration?: TextSource;
  /** Issuers of service account tokens; the first signs. */
  readonly serviceAccountIssuers?: readonly string[];
  /** Service account tokens count if they are for one of these. Default: the first issuer. */
  readonly apiAudiences?: readonly string[];
  /** Longest lifetime of service account tokens, in seconds; at least 3600. Default: no limit. */
  readonly serviceAccountMaxTokenSeconds?: number;
  /** PEM of the key that signs service account tokens. Default: one made at the first start. */
  readonly serviceAccountSigningKey?: TextSource;
  /** PEM of further keys that verify service account tokens. */
  readonly serviceAccountVerificationKeys?: readonly TextSource[];
  /** Where relying parties find the keys, if not at this server. */
  readonly serviceAccountKeySetUri?: string;
  /** Let tokens of pods that ask for the usual hour live for a year. Default true. */
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
  /** How long events are kept after they were last written, in seconds; 0: for good. Default 3600. */
  readonly eventTtlSeconds?: number;
  /** How long a stopping server goes on as before, except that it says it is not ready. In milliseconds; default 0. */
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
  /** A server elsewhere; needs `authorizationWebhook`. */
  'Webhook',
  /** Everybody may do everything. */
  'AlwaysAllow',
  /** Nobody but the administrators' group may do anything. */
  'AlwaysDeny',
] as const;
