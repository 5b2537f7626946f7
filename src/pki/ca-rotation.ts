import { anchorOf, type CaState, certificateOf, issuerOf, type NextCa } from './ca-state.js';
import { defaultAuthoritySeconds, type KeyPair } from './certificate-authority.js';
import { backdateMs } from './validity.js';

/**
 * How a CA is replaced without anybody noticing, as a state machine. The next anchor is published; once every bundle
 * has had it for long enough, its key signs; the old anchor stays published until nothing it signed is valid. A next CA
 * that would end before what it signs, because a bundle lacked it for long, makes room for another. Each step is one
 * write of the state, so a crash between two steps loses nothing. Steps out of order are refused here, whoever asks for
 * them.
 */
export interface RotationPolicy {
  /** Longest lifetime that is granted. */
  readonly maxSeconds: number;
  /** How long the next anchor must have been in every bundle before its key signs. */
  readonly propagationMs: number;
  /** A rotation begins by itself when the signing CA has less than this left. */
  readonly renewBeforeMs: number;
  /** Added to the longest lifetime before an anchor goes: for signing under way, and clocks that differ. */
  readonly marginMs: number;
}

/**
 * `steady`: one anchor; `announced`: the next one is not in every bundle yet; `spreading`: it is; `retiring`: an old
 * one stays.
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

/** Since when the phase is what it is, in milliseconds since the epoch; undefined while steady, and where nobody noted it. */
export function phaseSince({ next, retiring }: CaState): number | undefined {
  if (next === undefined) return retiring.at(-1)?.since;
  return next.seenSince ?? announcedAt(next);
}

/** What the controller observed, as input to the state machine. */
export interface Observation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether every bundle that is waited for has the next anchor. Without meaning while none is announced. */
  readonly seen: boolean;
  /** Whether a rotation was requested. */
  readonly requested: boolean;
}

export type RotationStep =
  | { readonly action: 'announce' | 'note-seen' | 'forget-seen' | 'switch' | 'retire'; readonly why: string }
  /** Nothing to do before then, unless something changes. */
  | { readonly action: 'wait'; readonly why: string; readonly until?: number };

/** Thrown for a step after which valid certificates would not verify. */
export class UnsafeStep extends Error {
  override readonly name = 'UnsafeStep';
}

const day = 86_400_000;

/** Completes a policy with defaults derived from its other members. */
export function rotationPolicy(
  given: Pick<RotationPolicy, 'maxSeconds'> & { readonly [member in keyof RotationPolicy]?: number | undefined },
): RotationPolicy {
  const { maxSeconds, propagationMs = day, marginMs = day / 24 } = given;
  // What is signed never outlives its CA, so a CA that lives shorter than this cuts lifetimes.
  const renewBeforeMs = given.renewBeforeMs ?? maxSeconds * 1_000 + propagationMs + 7 * day;
  return { maxSeconds, propagationMs, marginMs, renewBeforeMs };
}

/** At most so long it takes until every bundle has the next anchor, where nothing holds that up. */
const spreadingMs = day / 12;

/** How long copies in namespaces hold up a rotation at most. */
const longestHoldMs = 7 * day;

/**
 * How long after its announcement a next CA waits for copies of bundles in namespaces, in milliseconds: half of what is
 * left beside the propagation, at most a week. A user who may write such a copy may spoil it again and again, and must
 * not prevent the CA from being replaced in time.
 */
export const copiesHoldMs = ({ renewBeforeMs, propagationMs }: RotationPolicy): number =>
  Math.min(longestHoldMs, (renewBeforeMs - propagationMs) / 2);

/** When a next CA was announced, in milliseconds since the epoch: it is issued at that time. */
export const announcedAt = ({ pair }: NextCa): number => certificateOf(pair).notBefore + backdateMs;

/** Why CAs of this lifetime cannot be replaced in time by this policy, as a sentence; undefined if they can. */
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
  if (next === undefined) return whenToBegin(state, { now, requested }, policy);
  const flaw = flawOf(next, now, policy);
  if (flaw !== undefined) return { action: 'announce', why: flaw };
  const spreading = whileSpreading(next, { now, seen });
  if (spreading !== undefined) return spreading;
  const problem = switchProblem(state, now, policy);
  if (problem !== undefined) return { action: 'wait', ...problem };
  return { action: 'switch', why: 'every bundle has had the next anchor for long enough' };
}

/** Returns the step while the anchor is spreading to the bundles; undefined once that was recorded. */
function whileSpreading(
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

/** Why a next CA can never take over as it is. One that is not valid yet was made by a clock that was ahead. */
function flawOf({ pair }: NextCa, now: number, { maxSeconds }: RotationPolicy): string | undefined {
  const { notBefore, notAfter } = certificateOf(pair);
  if (notBefore > now) return 'the next CA is not valid yet';
  return notAfter - now < maxSeconds * 1_000 ? 'the next CA expires before the certificates it would sign' : undefined;
}

function whenToBegin(
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

/** Why the next key must not sign yet, and until when if that is known; undefined if it may. */
function switchProblem(
  state: CaState,
  now: number,
  policy: RotationPolicy,
): Pick<Extract<RotationStep, { readonly action: 'wait' }>, 'why' | 'until'> | undefined {
  const { next } = state;
  if (next === undefined) return { why: 'no next CA is announced' };
  const flaw = flawOf(next, now, policy);
  if (flaw !== undefined) return { why: flaw };
  if (next.seenSince === undefined) return { why: 'a bundle lacks the next anchor' };
  const until = next.seenSince + policy.propagationMs;
  return now < until ? { why: 'the next anchor has not been in every bundle for long enough', until } : undefined;
}

/** The state without a next CA that can never take over; the same one if there is none. */
export const withoutFlawedNext = (state: CaState, now: number, policy: RotationPolicy): CaState =>
  state.next !== undefined && flawOf(state.next, now, policy) !== undefined ? { ...state, next: undefined } : state;

/** Returns the state with a next CA announced. Throws UnsafeStep if one is announced already. */
export function announceNext(state: CaState, pair: KeyPair): CaState {
  if (state.next !== undefined) throw new UnsafeStep('a rotation is in progress: its next CA is already announced');
  return { ...state, next: { pair } };
}

/** Returns the state with the time since when every bundle has the next anchor; `undefined`: not all have it. */
export function markNextSeen(state: CaState, since: number | undefined): CaState {
  if (state.next === undefined) throw new UnsafeStep('no next CA is announced');
  return { ...state, next: { pair: state.next.pair, seenSince: since } };
}

/** Returns the state in which the next key signs and the old anchor stays. Throws UnsafeStep if that is too early. */
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
    // What the old key signed counted for its retirement.
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
