import type { Domains } from '../api/domains.js';
import type { Signer } from '../pki/signer.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Store } from '../store/store.js';

/** What a server can be told. Everything has a default that suits a server embedded in a program. */
export interface ServerOptions {
  /** A store, or its address: `memory:` (default), `level:DIR`, `etcd:HOST:PORT,...`. */
  readonly store?: string | Store;
  /** Where keys and certificates are kept. Default: nowhere; they are made anew each time. */
  readonly dataDir?: string;
  /** Accept connections. Default: none; the server is reached in process only. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** Told once connections are accepted, and awaited before controllers start. Needs `listen`. */
  readonly onListening?: (listening: { readonly url: string; readonly adminKubeconfig: string }) => Promise<void>;
  /** Names of the built-in controllers to run, or all. Default: all. */
  readonly controllers?: 'all' | readonly string[];
  /** Signers beyond the well-known ones. */
  readonly signers?: readonly Signer[];
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly domains?: Domains;
  readonly authorization?: 'RBAC' | 'AlwaysAllow';
  /** Let callers without credentials in as `system:anonymous`. Default true. */
  readonly anonymous?: boolean;
  /** Issuers of service account tokens; the first signs. */
  readonly serviceAccountIssuers?: readonly string[];
  readonly apiAudiences?: readonly string[];
  /** Longest lifetime of service account tokens, in seconds. */
  readonly serviceAccountMaxTokenSeconds?: number;
  /** PEM of further keys that verify service account tokens. */
  readonly serviceAccountVerificationKeys?: readonly string[];
  /** Text of a static token file (CSV: token, user, uid, "group,group"). */
  readonly tokenFile?: string;
  /** Longest (and default) lifetime of certificates from the well-known signers, in seconds. */
  readonly signingSeconds?: number;
  /** PEM files of the CA for the well-known signers, reloaded when they change. Default: the server's own CA. */
  readonly signingCaFiles?: { readonly certificateFile: string; readonly keyFile: string };
  /** How long a stopping server lets requests finish, in milliseconds. */
  readonly graceMs?: number;
}
