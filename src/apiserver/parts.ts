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

/** What the API server is made of. */
export interface Parts {
  readonly store: Store;
  /** Other servers may write to the same store. */
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
  /** The oldest revision a watch may resume from: what came before it made the server's first objects. */
  firstRevision(): Revision;
  /** Looks after requests on their way: counts, limits, records. Default: nobody does. */
  readonly operations?: Operations;
  /** Default: nobody sees requests on their way. */
  readonly intercept?: Intercept | undefined;
  /** A UUID (version 4) of its own for each object that comes to a place of the store. */
  uuid(place: string): string;
  /** Numbers in [0, 1) for the end of a generated name, where the place ends with what it begins with. */
  random(place: string): () => number;
}
