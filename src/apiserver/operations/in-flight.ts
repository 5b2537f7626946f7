import { type UserInfo, wellKnown } from '../../api/user.js';
import type { RequestInfo } from '../request.js';

/** How many requests may be under way at once; 0: any number. Watches do not count. */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
}

/** What Kubernetes allows by default. */
export const defaultInFlightLimits: InFlightLimits = { readOnly: 400, mutating: 200 };

export type RequestKind = 'readOnly' | 'mutating';

const readingVerbs = new Set(['get', 'list', 'watch']);
export const kindOf = (verb: string): RequestKind => (readingVerbs.has(verb) ? 'readOnly' : 'mutating');

/** Requests that go on for as long as the caller likes. No limit of number or time holds for them. */
export const isLongRunning = ({ isResource, verb }: RequestInfo): boolean => isResource && verb === 'watch';

/** Counts requests under way and turns those away that are too many. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #gauges: Readonly<Record<RequestKind, Watermark>> = { readOnly: new Watermark(), mutating: new Watermark() };

  constructor(limits: InFlightLimits = defaultInFlightLimits) {
    this.#limits = limits;
  }

  /**
   * Lets a request in and answers how to let it out again; undefined: there are too many. Administrators
   * (`system:masters`) always get in, and count only while there is room.
   */
  enter(kind: RequestKind, { groups }: UserInfo, now: number): (() => void) | undefined {
    const gauge = this.#gauges[kind];
    const limit = this.#limits[kind];
    if (limit > 0 && gauge.current >= limit) return groups.includes(wellKnown.masters) ? nothing : undefined;
    gauge.rise(now);
    let inside = true;
    return () => {
      if (inside) gauge.fall();
      inside = false;
    };
  }

  /** The most there were at a time since the second before `now`. */
  highest(kind: RequestKind, now: number): number {
    return this.#gauges[kind].highest(now);
  }
}

const nothing = (): void => {};

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
