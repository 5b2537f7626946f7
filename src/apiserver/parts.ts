import type { AdmissionChain } from '../admission/chain.js';
import type { Domains } from '../api/domains.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { Impersonation } from '../auth/impersonation.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Revision, Store } from '../store/store.js';
import type { Catalogue } from './catalogue.js';
import type { FeatureGates } from './feature-gates.js';
import type { Intercept } from './intercept.js';
import type { Operations } from './operations/operations.js';
import type { WriteQueue } from './write/write-queue.js';

/** The components of the API server. */
export interface Parts {
  readonly store: Store;
  /** Whether other servers may write to the same store. */
  readonly storeIsShared: boolean;
  readonly catalogue: Catalogue;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly impersonation: Impersonation;
  readonly admission: AdmissionChain;
  readonly clock: Clock;
  readonly log: Logger;
  readonly domains: Domains;
  readonly featureGates: FeatureGates;
  readonly writeQueue: WriteQueue;
  /**
   * Returns the oldest revision that a watch may resume from. Earlier changes created the first objects of the server.
   */
  firstRevision(): Revision;
  /** Metrics, audit log, limits and deadlines of requests; none by default. */
  readonly operations?: Operations;
  /** Called before each request is served. */
  readonly intercept?: Intercept | undefined;
  /** Returns a new UUID (version 4) for an object that is created at a place in the store. */
  uuid(place: string): string;
  /**
   * Returns a source of random numbers in [0, 1) for the suffix of a generated name. The place ends with the prefix of
   * the name.
   */
  random(place: string): () => number;
}
