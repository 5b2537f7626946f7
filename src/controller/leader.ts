import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { isReason } from '../api/errors.js';
import { type Lease, type LeaseSpec, Leases } from '../api/kinds/lease.js';
import { groupVersion } from '../api/object.js';
import { microTimestamp } from '../api/time.js';
import { withAbort } from '../client/abortable-client.js';
import type { Client, ResourceClient } from '../client/client.js';
import { FailureLog, withoutStack } from '../client/failure-log.js';
import { raceTimeout, registerDueCheck, withTimeout } from '../runtime/abort.js';
import { shutdownClock } from '../runtime/clock.js';
import { clientUntil, underlyingClient } from './client-until.js';
import type { ReconcileContext, Runnable } from './controller.js';
import { checkUniqueNames, leftBehindError, RunnablesLeftBehind } from './manager.js';
import { runnableLog } from './runnable-log.js';

/** The Lease of the leader election, and its timing. */
export interface LeaderOptions {
  /** The Lease that names the leader. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** The identity of this process; unique among all candidates, and not empty. Default: host name and a random part. */
  readonly identity?: string;
  /**
   * The time that other candidates wait after the last renewal; rounded up to whole seconds in the Lease. Default 15 s.
   */
  readonly leaseMs?: number;
  /** The time that the leader keeps trying to renew before it stops. Less than `leaseMs`. Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** The time between attempts; up to 1.2 times as long by jitter. Default 2 s. */
  readonly retryMs?: number;
  /** The time to wait for the runnables to stop. Default 20 s, so that a manager that waits 30 s sees them end. */
  readonly graceMs?: number;
  readonly random?: () => number;
}

/** Thrown when the lease could not be renewed in time, or another candidate took it: it may lead now. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/**
 * Runs runnables only while holding a Lease, so that of several processes one works at a time.
 *
 * Rejects with LeadershipLost if the lease could not be renewed, after stopping the runnables; the process decides
 * whether to start over. All of them get the client of the runnable `leader`; to give each its own, run a manager
 * inside. The clients reject calls from the moment the runnables are asked to stop, because another process may lead
 * soon after. They do so too if that moment passed while the process was suspended.
 *
 * The lease is renewed until all runnables have ended, unless it was lost, and then released. It is left to expire if
 * some were left behind or one failed. Runnables that have not stopped when the grace period is over are left behind,
 * by a manager or here: rejects with RunnablesLeftBehind, or with LeadershipLost if that is why they were asked to
 * stop.
 *
 * Clocks of different machines are never compared: a lease counts as expired when it has not changed for its duration
 * by this process's monotonic clock, which does not depend on the time of day. Throws an Error if the settings could
 * let two processes lead, or if two controllers have the same name.
 */
export function whileLeading(options: LeaderOptions, ...runnables: readonly Runnable[]): Runnable {
  const { leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = options;
  if (!(leaseMs > renewDeadlineMs)) throw new Error('leaseMs must be more than renewDeadlineMs');
  if (!(renewDeadlineMs > 1.2 * retryMs)) throw new Error('renewDeadlineMs must be more than 1.2 times retryMs');
  if (!(retryMs > 0)) throw new Error('retryMs must be more than 0');
  // A Lease without a holder is free for all.
  if (options.identity === '') throw new Error('identity must not be empty');
  checkUniqueNames(runnables);
  return {
    name: 'leader',
    run: (context) => new Candidate({ ...options, leaseMs, renewDeadlineMs, retryMs }, context).run(runnables),
  };
}

type Settings = LeaderOptions & Required<Pick<LeaderOptions, 'leaseMs' | 'renewDeadlineMs' | 'retryMs'>>;

/** The time to keep trying to release the lease. */
const releaseMs = 5_000;

class Candidate {
  readonly #options: Settings;
  readonly #context: ReconcileContext;
  readonly #identity: string;
  /** Whether the lease was ever requested: then this process may hold it, whatever the result of later attempts. */
  #mayHold = false;
  /** The lease as last seen, and the time of its last observed change by the monotonic clock. */
  #seen: { readonly lease: Lease; readonly at: number } | undefined;
  /** The time from which this process holds the lease, by the monotonic clock. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  readonly #troubles = new FailureLog();

  constructor(options: Settings, context: ReconcileContext) {
    this.#options = options;
    this.#context = context;
    this.#identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  }

  async run(runnables: readonly Runnable[]): Promise<void> {
    this.#tellLeading(false);
    const heldSince = await this.#campaign();
    const isStopped = this.#context.signal.aborted;
    if (!isStopped && heldSince !== undefined) return this.#lead(runnables, heldSince);
    if (this.#mayHold) await this.#release();
  }

  /** Tries to get the lease until it is held or the runnable is stopped. Returns the time from which it is held. */
  async #campaign(): Promise<number | undefined> {
    const { clock, signal, log, client } = this.#context;
    /** The last holder logged; each is logged once, so that the log shows that this process is waiting. */
    let waitsFor: string | undefined;
    while (!signal.aborted) {
      const askedAt = clock.monotonic();
      // A lease that took too long to get may have another holder already.
      if ((await this.#tryHold(client)) && this.#leftMs(askedAt) > 0) return askedAt;
      const holder = this.#seen?.lease.spec?.holderIdentity;
      const isNews = holder && holder !== this.#identity && holder !== waitsFor;
      if (isNews) log.info({ lease: this.#options.lease, holder }, 'another process is the leader');
      waitsFor = holder;
      await this.#pause();
    }
    return undefined;
  }

  /** Runs the runnables until they are asked to stop, one fails, or the lease is lost. */
  async #lead(runnables: readonly Runnable[], heldSince: number): Promise<void> {
    const { clock, signal, log } = this.#context;
    log.info({ lease: this.#options.lease, identity: this.#identity }, 'became leader');
    this.#tellLeading(true);

    const stop = new AbortController();
    // Every watch, queue and timer of the runnables adds a listener to it.
    setMaxListeners(0, stop.signal);
    const abort = (): void => stop.abort(signal.aborted ? signal.reason : undefined);
    signal.addEventListener('abort', abort, { once: true });
    this.#renewedAt = heldSince;
    registerDueCheck(stop.signal, () => this.#checkLeads());
    const client = clientUntil(stop.signal, this.#context.client);
    const context = { ...this.#context, client, signal: stop.signal };
    const running = new Set(runnables);
    const work = runnables.map(async (runnable) => {
      try {
        await runnable.run({ ...context, log: runnableLog(runnable.name, context.log) });
      } finally {
        running.delete(runnable);
      }
    });
    const renewal = this.#renew(client, stop.signal).finally(abort);
    const ended = new AbortController();
    // No other process may start while runnables of this one are still stopping.
    renewal
      .then(() => this.#renew(withAbort(ended.signal, underlyingClient(this.#context.client)), ended.signal))
      .catch(() => {});
    // Failures are reported when all have ended.
    await Promise.race([Promise.all(work), renewal]).catch(() => {});
    this.#tellLeading(false);
    const wasTold = signal.aborted;
    abort();
    const { graceMs = 20_000 } = this.#options;
    const worked = await raceTimeout(shutdownClock(clock), graceMs, Promise.allSettled(work));
    ended.abort();
    signal.removeEventListener('abort', abort);
    await renewal;
    if (worked === undefined) throw leftBehindError(running, graceMs);
    const failures = worked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    // If runnables of this process may still be working, other candidates must wait until the lease expires. If
    // runnables fail by themselves, so does this process.
    const mayRelease = wasTold && !failures.some((failure) => failure instanceof RunnablesLeftBehind);
    if (mayRelease || failures.length === 0) await this.#release();
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Renews the lease; resolves when asked to stop. The duration counts from before each request, because other
   * candidates may count from the moment the server wrote the lease, which is not earlier.
   */
  async #renew(client: Client, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    while (!signal.aborted) {
      await this.#pause(signal, this.#leftMs());
      if (signal.aborted) return;
      const askedAt = clock.monotonic();
      const leftMs = this.#leftMs();
      // A server that does not respond must not extend the leadership beyond the deadline.
      const isRenewed = leftMs > 0 && (await raceTimeout(clock, leftMs, this.#tryHold(client, signal)));
      if (isRenewed) this.#renewedAt = askedAt;
      if (signal.aborted) return;
      const holder = this.#otherHolder;
      if (this.#leftMs() <= 0 || holder !== undefined) {
        log.error({ lease: this.#options.lease, identity: this.#identity }, 'stopped leading');
        const detail = isRenewed === undefined ? ': the server did not answer' : '';
        throw this.#lost(holder === undefined ? `could not be renewed${detail}` : `was taken by ${holder}`);
      }
    }
  }

  /** Throws LeadershipLost if the deadline has passed, even if its timer has not fired yet. */
  #checkLeads(): void {
    if (this.#leftMs() <= 0) throw this.#lost('could not be renewed');
  }

  #lost(reason: string): LeadershipLost {
    return new LeadershipLost(`the lease ${this.#options.lease.name} ${reason}`);
  }

  /**
   * The holder that took the lease before it expired, for example because it was deleted or edited: it cannot be
   * regained in time.
   */
  get #otherHolder(): string | undefined {
    const holder = this.#seen?.lease.spec?.holderIdentity;
    return holder && holder !== this.#identity ? holder : undefined;
  }

  #tellLeading(isLeading: boolean): void {
    this.#context.metrics?.leading?.(this.#options.lease.name, isLeading);
  }

  /** Returns how long this process may still lead; 0 or less if no longer. */
  #leftMs(renewedAt = this.#renewedAt): number {
    return renewedAt + this.#options.renewDeadlineMs - this.#context.clock.monotonic();
  }

  #pause(signal = this.#context.signal, mostMs = Number.POSITIVE_INFINITY): Promise<void> {
    const random = this.#options.random ?? Math.random;
    return this.#context.clock.sleep(Math.min(mostMs, this.#options.retryMs * (1 + 0.2 * random())), signal);
  }

  /** Takes or renews the lease; returns false if another candidate has it or the server does not answer. */
  async #tryHold(client: Client, signal = this.#context.signal): Promise<boolean> {
    const { log, clock } = this.#context;
    try {
      const isHeld = await this.#hold(client.resource(Leases));
      this.#troubles.recovered();
      return isHeld;
    } catch (error) {
      const isExpected =
        signal.aborted ||
        error instanceof LeadershipLost ||
        isReason(error, 'Conflict') ||
        isReason(error, 'AlreadyExists');
      const isNews = !isExpected && this.#troubles.shouldReport(error, clock.monotonic());
      const fields = { lease: this.#options.lease, identity: this.#identity, err: withoutStack(error) };
      log[isNews ? 'warn' : 'debug'](fields, 'could not acquire the lease');
      return false;
    }
  }

  async #hold(leases: ResourceClient<Lease>): Promise<boolean> {
    const { clock } = this.#context;
    const { lease: key, leaseMs } = this.#options;
    const found = await leases.get(key);
    // Measured after the response: the state it contains may be that recent.
    const at = clock.monotonic();
    const now = clock.now();
    if (found === undefined) {
      await this.#write(() => leases.create(this.#newLease(now)), at);
      return true;
    }
    const spec = found.spec ?? {};
    // A change of metadata, such as an annotation, is no sign of life of the holder.
    if (this.#seen === undefined || !isDeepStrictEqual(spec, this.#seen.lease.spec)) this.#note(found, at);
    const isOwn = spec.holderIdentity === this.#identity;
    const free = !spec.holderIdentity || at - (this.#seen?.at ?? at) >= durationOf(spec, leaseMs);
    if (!isOwn && !free) return false;
    const next: LeaseSpec = {
      ...spec,
      holderIdentity: this.#identity,
      leaseDurationSeconds: secondsOf(leaseMs),
      renewTime: microTimestamp(now),
      ...(isOwn ? {} : { acquireTime: microTimestamp(now), leaseTransitions: (spec.leaseTransitions ?? 0) + 1 }),
    };
    await this.#write(() => leases.update({ ...found, spec: next }), at);
    return true;
  }

  async #write(ask: () => Promise<Lease>, at: number): Promise<void> {
    this.#mayHold = true;
    this.#note(await ask(), at);
  }

  #note(lease: Lease, at: number): void {
    this.#seen = { lease, at };
  }

  #newLease(now: number): Lease {
    const { lease: key, leaseMs } = this.#options;
    return {
      apiVersion: groupVersion(Leases),
      kind: Leases.kind,
      metadata: key,
      spec: {
        holderIdentity: this.#identity,
        leaseDurationSeconds: secondsOf(leaseMs),
        acquireTime: microTimestamp(now),
        renewTime: microTimestamp(now),
        leaseTransitions: 0,
      },
    };
  }

  /** Releases the lease, so that the next leader need not wait. If the server does not respond, the lease expires. */
  async #release(): Promise<void> {
    const { clock, log, client } = this.#context;
    try {
      // Runs after everything else has ended.
      await withTimeout({ clock: shutdownClock(clock), milliseconds: releaseMs, signals: [] }, (signal) =>
        this.#giveBack(withAbort(signal, underlyingClient(client)).resource(Leases)),
      );
    } catch (error) {
      const { lease } = this.#options;
      log.warn({ lease, identity: this.#identity, err: error }, 'could not release the lease');
    }
  }

  async #giveBack(leases: ResourceClient<Lease>): Promise<void> {
    const found = await leases.get(this.#options.lease);
    if (found?.spec?.holderIdentity !== this.#identity) return;
    const now = microTimestamp(this.#context.clock.now());
    const spec = { ...found.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    await leases.update({ ...found, spec });
  }
}

/** Returns a duration as a Lease expresses it: in whole seconds, rounded up. */
const secondsOf = (leaseMs: number): number => Math.ceil(leaseMs / 1_000);

/** Returns how long the holder asks other candidates to wait; this process's own duration if the Lease has none. */
const durationOf = ({ leaseDurationSeconds }: LeaseSpec, ownMs: number): number =>
  leaseDurationSeconds === undefined ? ownMs : leaseDurationSeconds * 1_000;
