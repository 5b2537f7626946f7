import { accountPrefix, type UserInfo, wellKnown } from '../../api/user.js';
import type { RequestInfo } from '../request.js';

/**
 * How many requests may be under way at once; 0: any number. Watches do not count among them. One caller may have half of what the
 * others leave, so that nobody takes all: a place is held for as long as a body comes and an answer is taken, however slowly.
 */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
  /** Of each caller: every watch costs something with every change that it sees, and there is no end to what one could open. */
  readonly watches: number;
}

/** Of requests what Kubernetes allows by default, which counts a watch only while it begins. */
export const defaultInFlightLimits: InFlightLimits = { readOnly: 400, mutating: 200, watches: 10_000 };

export type RequestKind = 'readOnly' | 'mutating';

const readingVerbs = new Set(['get', 'list', 'watch']);
export const kindOf = (verb: string): RequestKind => (readingVerbs.has(verb) ? 'readOnly' : 'mutating');

const longVerbs = new Set(['watch', 'proxy']);
const longSubresources = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/**
 * Requests that go on for as long as the caller likes. No limit of number or time holds for them, nor for those that would
 * lead into a running pod if there were any.
 */
export const isLongRunning = ({ isResource, verb, subresource }: RequestInfo): boolean =>
  isResource && (longVerbs.has(verb) || longSubresources.has(subresource));

/** Counts requests under way and turns those away that are too many. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #gauges: Readonly<Record<RequestKind, Watermark>> = { readOnly: new Watermark(), mutating: new Watermark() };
  /** Of each caller who has any. */
  readonly #held = { readOnly: new Map(), mutating: new Map(), watches: new Map() } satisfies Record<string, Held>;

  constructor(limits: InFlightLimits = defaultInFlightLimits) {
    this.#limits = limits;
  }

  /**
   * Lets a request in and answers how to let it out again; undefined: there are too many, or too many of this caller. Administrators
   * (`system:masters`) always get in, and count only while there is room.
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
    return hold(held, caller, () => gauge.fall());
  }

  /**
   * The same for a watch, until it ends; undefined: there are too many of this caller. What is selected by is held for as long:
   * of a `uri` of more than a thousand characters each thousand counts as another watch.
   */
  enterWatch({ username, groups }: UserInfo, uri: string): (() => void) | undefined {
    const held = this.#held.watches;
    const caller = callerOf(username);
    const { watches } = this.#limits;
    const isFull = watches > 0 && (held.get(caller) ?? 0) >= watches;
    if (isFull && !groups.includes(wellKnown.masters)) return undefined;
    return hold(held, caller, nothing, 1 + Math.trunc(uri.length / longUri));
  }

  /** The most there were at a time since the second before `now`. */
  highest(kind: RequestKind, now: number): number {
    return this.#gauges[kind].highest(now);
  }
}

/** How many places each caller has that has any. */
type Held = Map<string, number>;

/** More than those of most watches have. */
const longUri = 1_000;

/** Takes places and answers how to give them back, which counts once. */
function hold(held: Held, caller: string, then: () => void, places = 1): () => void {
  held.set(caller, (held.get(caller) ?? 0) + places);
  let inside = true;
  return () => {
    if (!inside) return;
    inside = false;
    const left = (held.get(caller) ?? 0) - places;
    if (left > 0) held.set(caller, left);
    else held.delete(caller);
    then();
  };
}

const nothing = (): void => {};

/** Who shares one share: a user, or all service accounts of a namespace, of which whoever has one can have any number. */
const callerOf = (username: string): string =>
  username.startsWith(accountPrefix) ? username.slice(0, username.lastIndexOf(':')) : username;

/** A number of things present, and the most there were in this second and the one before. */
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
