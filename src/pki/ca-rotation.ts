import { anchorOf, type CaState, certificateOf, issuerOf, type NextCa } from './ca-state.js';
import { defaultAuthoritySeconds, type KeyPair } from './certificate-authority.js';
import { backdateMs } from './validity.js';

/**
 * The rotation of a CA as a state machine, so that no valid certificate ever fails to verify. The next anchor is
 * published. Once every bundle has had it for long enough, its key signs. The old anchor stays published until nothing
 * that it signed is valid. If the next CA would expire before the certificates it is to sign, because a bundle lacked
 * it for long, another one replaces it. Each step is one write of the state, so a crash between two steps loses
 * nothing. Steps out of order are rejected here, whoever requests them.
 */
export interface RotationPolicy {
  /** The longest lifetime that is granted, in seconds. */
  readonly maxSeconds: number;
  /** The time for which every bundle must have contained the next anchor before its key signs. */
  readonly propagationMs: number;
  /** The remaining lifetime of the signing CA at which a rotation begins by itself. */
  readonly renewBeforeMs: number;
  /** Added to the longest lifetime before an anchor is removed, for signing in progress and clocks that differ. */
  readonly marginMs: number;
}

/**
 * `steady`: there is one anchor; `announced`: some bundles lack the next one; `spreading`: every bundle has it;
 * `retiring`: an old anchor is still published.
 */
export type RotationPhase = 'steady' | 'announced' | 'spreading' | 'retiring';

export const phaseOf = ({ next, retiring }: CaState): RotationPhase =>
  next === undefined
    ? retiring.length > 0
      ? 'retiring'
      : 'steady'
    : next.seenSince === undefined
      ? 'announced'
      : 'spreading';

/**
 * Returns the time when the current phase began, in milliseconds since the epoch; undefined while steady, or if that
 * was not recorded.
 */
export function phaseSince({ next, retiring }: CaState): number | undefined {
  if (next === undefined) return retiring.at(-1)?.since;
  return next.seenSince ?? announcedAt(next);
}

/** The observations of the controller, as input to the state machine. */
export interface Observation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether every bundle that counts has the next anchor. Meaningless if none is announced. */
  readonly seen: boolean;
  /** Whether a rotation was requested. */
  readonly requested: boolean;
}

export type RotationStep =
  | { readonly action: 'announce' | 'note-seen' | 'forget-seen' | 'switch' | 'retire'; readonly why: string }
  /** There is nothing to do before `until`, unless something changes. */
  | { readonly action: 'wait'; readonly why: string; readonly until?: number };

/** Thrown for a step that could make valid certificates fail to verify. */
export class UnsafeStep extends Error {
  override readonly name = 'UnsafeStep';
}

const day = 86_400_000;

/** Completes a policy with defaults derived from its other members. */
export function rotationPolicy(
  options: Pick<RotationPolicy, 'maxSeconds'> & { readonly [member in keyof RotationPolicy]?: number | undefined },
): RotationPolicy {
  const { maxSeconds, propagationMs = day, marginMs = day / 24 } = options;
  // Certificates never outlive their CA, so a CA with a shorter remaining lifetime than this would shorten theirs.
  const renewBeforeMs = options.renewBeforeMs ?? maxSeconds * 1_000 + propagationMs + 7 * day;
  return { maxSeconds, propagationMs, marginMs, renewBeforeMs };
}

/** The maximum time until every bundle has the next anchor, if nothing delays it. */
const spreadingMs = day / 12;

/** The maximum time that copies in namespaces delay a rotation. */
const longestHoldMs = 7 * day;

/**
 * Returns how long after its announcement a next CA waits for copies of bundles in namespaces, in milliseconds: half of
 * the time that remains besides the propagation, at most a week. A user who can write such a copy could break it again
 * and again, and must not be able to prevent the timely replacement of the CA.
 */
export const copiesHoldMs = ({ renewBeforeMs, propagationMs }: RotationPolicy): number =>
  Math.min(longestHoldMs, (renewBeforeMs - propagationMs) / 2);

/** Returns when a next CA was announced, in milliseconds since the epoch: it is issued at that time. */
export const announcedAt = ({ pair }: NextCa): number => certificateOf(pair).notBefore + backdateMs;

/**
 * Returns, as a sentence, why CAs of this lifetime cannot be replaced in time with this policy; undefined if they can.
 */
export function rotationProblem(policy: RotationPolicy, caSeconds = defaultAuthoritySeconds): string | undefined {
  const { maxSeconds, propagationMs, renewBeforeMs } = policy;
  const figures = Object.entries({
    caSeconds,
    renewBeforeSeconds: renewBeforeMs / 1_000,
    propagationSeconds: propagationMs / 1_000,
    maxSeconds,
  }).map(([option, seconds]) => `${option} ${seconds}`);
  const problem = unrotatable(policy, caSeconds * 1_000);
  return problem && `${problem} (with ${figures.join(', ')})`;
}

function unrotatable({ maxSeconds, propagationMs, renewBeforeMs }: RotationPolicy, caMs: number): string | undefined {
  if (caMs <= renewBeforeMs + propagationMs) return 'it would be replaced constantly';
  if (renewBeforeMs < propagationMs + spreadingMs) return 'it would expire before the next one may sign';
  const leftMs = caMs - propagationMs - spreadingMs;
  return leftMs < maxSeconds * 1_000 ? 'the next one would expire before the certificates it signs' : undefined;
}

/** Returns the one step to do next. */
export function nextStep(state: CaState, { now, seen, requested }: Observation, policy: RotationPolicy): RotationStep {
  const due = state.retiring.filter(({ until }) => until <= now);
  if (due.length > 0) return { action: 'retire', why: 'no certificate signed with the old key is valid any more' };
  const { next } = state;
  if (next === undefined) return firstStep(state, { now, requested }, policy);
  const flaw = problemOf(next, now, policy);
  if (flaw !== undefined) return { action: 'announce', why: flaw };
  const spreading = spreadingStep(next, { now, seen });
  if (spreading !== undefined) return spreading;
  const problem = switchProblem(state, now, policy);
  if (problem !== undefined) return { action: 'wait', ...problem };
  return { action: 'switch', why: 'every bundle has had the next anchor for long enough' };
}

/** Returns the step while the anchor is spreading to the bundles; undefined once that was recorded. */
function spreadingStep(
  { seenSince: since }: NextCa,
  { now, seen }: Pick<Observation, 'now' | 'seen'>,
): RotationStep | undefined {
  if (since === undefined) {
    return seen
      ? { action: 'note-seen', why: 'every bundle has the next anchor' }
      : { action: 'wait', why: 'a bundle lacks the next anchor' };
  }
  if (!seen) return { action: 'forget-seen', why: 'a bundle lacks the next anchor again' };
  return since > now ? { action: 'forget-seen', why: 'the clock went back' } : undefined;
}

/** Returns why a next CA can never take over. One that is not valid yet was created by a clock that was ahead. */
function problemOf({ pair }: NextCa, now: number, { maxSeconds }: RotationPolicy): string | undefined {
  const { notBefore, notAfter } = certificateOf(pair);
  if (notBefore > now) return 'the next CA is not valid yet';
  return notAfter - now < maxSeconds * 1_000 ? 'the next CA expires before the certificates it would sign' : undefined;
}

function firstStep(
  state: CaState,
  { now, requested }: Pick<Observation, 'now' | 'requested'>,
  { renewBeforeMs }: RotationPolicy,
): RotationStep {
  if (requested) return { action: 'announce', why: 'requested' };
  const begin = certificateOf(state.signing).notAfter - renewBeforeMs;
  if (begin <= now) return { action: 'announce', why: 'the signing CA is due for renewal' };
  const until = Math.min(begin, ...state.retiring.map((one) => one.until));
  return {
    action: 'wait',
    why: state.retiring.length > 0 ? 'an old anchor is still published' : 'nothing is due',
    until,
  };
}

/** Returns why the next key must not sign yet, and until when if that is known; undefined if it may. */
function switchProblem(
  state: CaState,
  now: number,
  policy: RotationPolicy,
): Pick<Extract<RotationStep, { readonly action: 'wait' }>, 'why' | 'until'> | undefined {
  const { next } = state;
  if (next === undefined) return { why: 'no next CA is announced' };
  const flaw = problemOf(next, now, policy);
  if (flaw !== undefined) return { why: flaw };
  if (next.seenSince === undefined) return { why: 'a bundle lacks the next anchor' };
  const until = next.seenSince + policy.propagationMs;
  return now < until ? { why: 'the next anchor has not been in every bundle for long enough', until } : undefined;
}

/** Returns the state without a next CA that can never take over; the same state if there is none. */
export const withoutFlawedNext = (state: CaState, now: number, policy: RotationPolicy): CaState =>
  state.next !== undefined && problemOf(state.next, now, policy) !== undefined ? { ...state, next: undefined } : state;

/** Returns the state with a next CA announced. Throws UnsafeStep if one is announced already. */
export function announceNext(state: CaState, pair: KeyPair): CaState {
  if (state.next !== undefined) throw new UnsafeStep('a rotation is in progress: its next CA is already announced');
  return { ...state, next: { pair } };
}

/** Returns the state with the time from which every bundle has the next anchor; undefined if some lack it. */
export function markNextSeen(state: CaState, since: number | undefined): CaState {
  if (state.next === undefined) throw new UnsafeStep('no next CA is announced');
  return { ...state, next: { pair: state.next.pair, seenSince: since } };
}

/**
 * Returns the state in which the next key signs and the old anchor is retiring. Throws UnsafeStep if that is too early.
 */
export function switchToNext(state: CaState, now: number, policy: RotationPolicy): CaState {
  const problem = switchProblem(state, now, policy);
  if (problem !== undefined || state.next === undefined)
    throw new UnsafeStep(`the next key must not sign yet: ${problem?.why}`);
  const longestSeconds = Math.max(state.longestSeconds, policy.maxSeconds);
  const until = Math.min(certificateOf(state.signing).notAfter, now + longestSeconds * 1_000 + policy.marginMs);
  const [anchor, issuer] = [anchorOf(state.signing), issuerOf(state.signing)];
  return {
    generation: state.generation + 1,
    signing: state.next.pair,
    retiring: [...state.retiring, { anchor, until, since: now, ...(issuer === anchor ? {} : { issuer }) }],
    // The lifetimes that the old key granted are accounted for in `until`.
    longestSeconds: policy.maxSeconds,
  };
}

/** Returns the state without retiring anchors whose time is over. Throws UnsafeStep if there are none. */
export function dropRetired(state: CaState, now: number): CaState {
  const retiring = state.retiring.filter(({ until }) => until > now);
  if (retiring.length === state.retiring.length) throw new UnsafeStep('certificates under the old anchor may be valid');
  return { ...state, retiring };
}

/** Returns the state with `longestSeconds` raised to a lifetime that is granted from now on; the same state if it covers that. */
export const withLifetime = (state: CaState, maxSeconds: number): CaState =>
  maxSeconds > state.longestSeconds ? { ...state, longestSeconds: maxSeconds } : state;
