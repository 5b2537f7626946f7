import { accountPrefix, type UserInfo, wellKnown } from '../../api/user.js';
import type { RequestInfo } from '../request.js';

/**
 * The maximum number of concurrent requests, without watches; 0 for no limit. One caller may have at most half of what
 * the others leave free, so that no caller can take everything: a request counts while its body arrives and while its
 * response is read, however slowly.
 */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
  /**
   * The maximum number of watches of one caller. Each watch has a cost for every change that it sees, and callers could
   * otherwise open any number.
   */
  readonly watches: number;
}

/**
 * The default limits. Those on requests are the defaults of Kubernetes, where a watch counts only until it has begun.
 */
export const defaultInFlightLimits: InFlightLimits = { readOnly: 400, mutating: 200, watches: 10_000 };

export type RequestKind = 'readOnly' | 'mutating';

const readingVerbs = new Set(['get', 'list', 'watch']);
export const kindOf = (verb: string): RequestKind => (readingVerbs.has(verb) ? 'readOnly' : 'mutating');

const longVerbs = new Set(['watch', 'proxy']);
const longSubresources = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/**
 * Whether a request may last as long as the caller likes, so that limits on number and time do not apply. This includes
 * requests to running pods, although nothing runs here.
 */
export const isLongRunning = ({ isResource, verb, subresource }: RequestInfo): boolean =>
  isResource && (longVerbs.has(verb) || longSubresources.has(subresource));

/** Counts the requests in flight and refuses those above the limits. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #gauges: Readonly<Record<RequestKind, Watermark>> = { readOnly: new Watermark(), mutating: new Watermark() };
  /** The requests and watches in flight, by caller. */
  readonly #held = { readOnly: new Map(), mutating: new Map(), watches: new Map() } satisfies Record<
    string,
    PlacesHeld
  >;

  constructor(limits: InFlightLimits = defaultInFlightLimits) {
    this.#limits = limits;
  }

  /**
   * Admits a request and returns a function that ends it; undefined if there are too many requests, or too many of this
   * caller. Administrators (`system:masters`) are always admitted, and count only up to the limit.
   */
  enter(kind: RequestKind, { username, groups }: UserInfo, now: number): (() => void) | undefined {
    const gauge = this.#gauges[kind];
    const limit = this.#limits[kind];
    const held = this.#held[kind];
    const caller = callerOf(username);
    const own = held.get(caller) ?? 0;
    const others = gauge.current - own;
    const isMaster = (): boolean => groups.includes(wellKnown.masters);
    if (limit > 0 && gauge.current >= limit) return isMaster() ? nothing : undefined;
    if (limit > 0 && own >= Math.ceil((limit - others) / 2) && !isMaster()) return undefined;
    gauge.rise(now);
    return takePlaces(held, caller, () => gauge.fall());
  }

  /**
   * Admits a watch and returns a function that ends it; undefined if the caller has too many. Its selectors are kept in
   * memory as long, so that a `uri` of more than a thousand characters counts as one more watch for each thousand.
   */
  enterWatch({ username, groups }: UserInfo, uri: string): (() => void) | undefined {
    const held = this.#held.watches;
    const caller = callerOf(username);
    const { watches } = this.#limits;
    const isFull = watches > 0 && (held.get(caller) ?? 0) >= watches;
    if (isFull && !groups.includes(wellKnown.masters)) return undefined;
    return takePlaces(held, caller, nothing, 1 + Math.trunc(uri.length / longUri));
  }

  /** Returns the maximum number of concurrent requests since the second before `now`. */
  highest(kind: RequestKind, now: number): number {
    return this.#gauges[kind].highest(now);
  }
}

/** The number of places that each caller holds. */
type PlacesHeld = Map<string, number>;

/** The length of a URI that is longer than that of most watches. */
const longUri = 1_000;

/** Takes places and returns a function that releases them. Further calls of it have no effect. */
function takePlaces(held: PlacesHeld, caller: string, onRelease: () => void, places = 1): () => void {
  held.set(caller, (held.get(caller) ?? 0) + places);
  let inside = true;
  return () => {
    if (!inside) return;
    inside = false;
    const remaining = (held.get(caller) ?? 0) - places;
    if (remaining > 0) held.set(caller, remaining);
    else held.delete(caller);
    onRelease();
  };
}

const nothing = (): void => {};

/**
 * Returns the name under which a caller is counted: the user, or for a service account its namespace, because a user
 * with one account there can have any number.
 */
const callerOf = (username: string): string =>
  username.startsWith(accountPrefix) ? username.slice(0, username.lastIndexOf(':')) : username;

/** A current count, with its maximum in this second and the one before. */
class Watermark {
  current = 0;
  #second = 0;
  #inSecond = 0;
  #before = 0;

  rise(now: number): void {
    this.#turn(now);
    this.current++;
    if (this.current > this.#inSecond) this.#inSecond = this.current;
  }

  fall(): void {
    this.current--;
  }

  highest(now: number): number {
    this.#turn(now);
    return Math.max(this.#inSecond, this.#before);
  }

  #turn(now: number): void {
    const second = Math.trunc(now / 1_000);
    if (second === this.#second) return;
    this.#before = second === this.#second + 1 ? this.#inSecond : this.current;
    this.#inSecond = this.current;
    this.#second = second;
  }
}
