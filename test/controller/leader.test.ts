import { describe, expect, test, vi } from 'vitest';
import { serviceUnavailable } from '../../src/api/errors.js';
import { type Lease, Leases } from '../../src/api/kinds/lease.js';
import { withAbortFactory } from '../../src/client/abortable-client.js';
import type { Client, ResourceClient } from '../../src/client/client.js';
import type { ReconcileContext, Runnable } from '../../src/controller/controller.js';
import type { ControllerMetrics } from '../../src/controller/controller-metrics.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { type LeaderOptions, LeadershipLost, whileLeading } from '../../src/controller/leader.js';
import { createManager, RunnablesLeftBehind } from '../../src/controller/manager.js';
import { type Clock, systemClock } from '../../src/runtime/clock.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const key = { namespace: 'kube-system', name: 'lock' };

/** The differences of one candidate. */
interface Own {
  readonly clock?: Clock;
  readonly options?: Partial<LeaderOptions>;
  /** Its connection to the leases, which may be slow or interrupted. */
  readonly through?: (leases: ResourceClient<Lease>) => Partial<ResourceClient<Lease>>;
  /** Other runnables while it leads. */
  readonly also?: readonly Runnable[];
  readonly log?: Logger;
  readonly metrics?: ControllerMetrics;
}

function world() {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const leading = new Set<string>();
  /** The candidates that began to lead while another one did. */
  const second: string[] = [];
  const candidate = (identity: string, own: Own = {}) => {
    const leases = client.resource(Leases);
    const resource = () => ({ ...leases, ...own.through?.(leases) }) as never;
    const stop = new AbortController();
    const work = {
      name: 'work',
      run: async ({ signal }: { readonly signal: AbortSignal }) => {
        leading.add(identity);
        if (leading.size > 1) second.push(identity);
        await systemClock.sleep(Number.POSITIVE_INFINITY, signal);
        leading.delete(identity);
      },
    };
    const running = whileLeading(
      { lease: key, identity, random: () => 0, ...own.options },
      work,
      ...(own.also ?? []),
    ).run({
      client: { discover: () => client.discover(), resource },
      clock: own.clock ?? clock,
      log: own.log ?? silentLogger,
      metrics: own.metrics,
      signal: stop.signal,
    });
    running.catch(() => {});
    return { running, stop: () => stop.abort() };
  };
  const lease = async () => (await client.resource(Leases).get(key))?.spec;
  return { clock, client, leading, second, candidate, lease };
}

/** A connection to the leases that can be interrupted. */
function cable() {
  let isCut = false;
  const through = (leases: ResourceClient<Lease>): Partial<ResourceClient<Lease>> => ({
    get: async (at) => {
      if (isCut) throw serviceUnavailable('cut off');
      return leases.get(at);
    },
  });
  const cut = (): void => {
    isCut = true;
  };
  return { through, cut };
}

const busyUntilStopped: Runnable = {
  name: 'work',
  run: ({ signal }) => systemClock.sleep(Number.POSITIVE_INFINITY, signal),
};

describe('leader election', () => {
  test('makes one of two candidates the leader, who keeps renewing', async () => {
    const { clock, leading, candidate, lease } = world();
    candidate('a');
    await settled();
    candidate('b');
    await clock.advance(60_000);
    expect([...leading]).toEqual(['a']);
    expect(await lease()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 0,
    });
  });

  test('hands over at once when the leader stops in order', async () => {
    const { clock, leading, candidate, lease } = world();
    const a = candidate('a');
    await settled();
    candidate('b');
    await clock.advance(5_000);
    a.stop();
    await a.running;
    expect(await lease()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    await clock.advance(2_000);
    expect([...leading]).toEqual(['b']);
    expect(await lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test("writes the lease with the client's own field manager", async () => {
    const { clock, candidate } = world();
    const given: unknown[] = [];
    const through = (leases: ResourceClient<Lease>): Partial<ResourceClient<Lease>> => ({
      create: (lease, options) => {
        given.push(options?.fieldManager);
        return leases.create(lease, options);
      },
      update: (lease, options) => {
        given.push(options?.fieldManager);
        return leases.update(lease, options);
      },
    });
    const { running, stop } = candidate('a', { through });
    await clock.advance(5_000);
    stop();
    await running;
    expect(given.length).toBeGreaterThanOrEqual(3);
    expect(new Set(given)).toEqual(new Set([undefined]));
  });

  test('runs any number of runnables', async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    const { leading, candidate } = world();
    const run: Runnable['run'] = ({ signal }) => systemClock.sleep(Number.POSITIVE_INFINITY, signal);
    candidate('a', { also: Array.from({ length: 20 }, (_, at) => ({ name: `work ${at}`, run })) });
    await settled();
    expect([...leading]).toEqual(['a']);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  test('makes a waiting candidate log the current leader once', async () => {
    const { clock, candidate } = world();
    const lines: unknown[] = [];
    const log = { ...silentLogger, info: (fields: object, message: string) => void lines.push([message, fields]) };
    const a = candidate('a');
    await settled();
    candidate('b', { log });
    await clock.advance(20_000);
    expect(lines).toEqual([['another process is the leader', { lease: key, holder: 'a' }]]);
    a.stop();
    await clock.advance(20_000);
    expect(lines.slice(1)).toEqual([['became leader', { lease: key, identity: 'b' }]]);
  });

  test('warns of a failing lease, with its name and the candidate, once and every ten minutes', async () => {
    const { clock, client, leading, candidate } = world();
    const lines: unknown[] = [];
    const log = { ...silentLogger, warn: (fields: object, message: string) => void lines.push([message, fields]) };
    client.fail = () => serviceUnavailable('gone');
    candidate('a', { log });
    await clock.advance(1_000);
    const err = expect.objectContaining({ reason: 'ServiceUnavailable', message: 'gone', stack: undefined });
    const line = ['could not acquire the lease', { lease: key, identity: 'a', err }];
    expect(lines).toEqual([line]);
    await clock.advance(590_000);
    expect(lines).toEqual([line]);
    await clock.advance(20_000);
    expect(lines).toEqual([line, line]);
    client.fail = () => undefined;
    await clock.advance(2_000);
    expect([...leading]).toEqual(['a']);
    client.fail = () => serviceUnavailable('gone again');
    await clock.advance(6_000);
    expect(lines.length).toBe(3);
  });

  test('is counted while the work may be done', async () => {
    const { clock, candidate } = world();
    const told: string[] = [];
    const metrics = (identity: string): ControllerMetrics => ({
      reconciled: () => {},
      leading: (name, isLeading) => void told.push(`${identity} ${name} ${isLeading}`),
    });
    const { through, cut } = cable();
    const a = candidate('a', { through, metrics: metrics('a') });
    await settled();
    const b = candidate('b', { metrics: metrics('b') });
    await clock.advance(5_000);
    cut();
    await clock.advance(10_000);
    await expect(a.running).rejects.toBeInstanceOf(LeadershipLost);
    expect(told).toEqual(['a lock false', 'a lock true', 'b lock false', 'a lock false']);
    await clock.advance(20_000);
    b.stop();
    await b.running;
    expect(told.slice(4)).toEqual(['b lock true', 'b lock false']);
  });

  test('gives the lease back when a manager stops the leader', async () => {
    const { clock, client, lease } = world();
    const stop = new AbortController();
    const running = createManager({ client, clock })
      .add(whileLeading({ lease: key, identity: 'a' }, busyUntilStopped))
      .run(stop.signal);
    await settled();
    expect(await lease()).toMatchObject({ holderIdentity: 'a' });
    stop.abort();
    await running;
    expect(await lease()).toMatchObject({ holderIdentity: '' });
  });

  test('gives the lease back when stopped while taking it', async () => {
    const { client, leading, candidate, lease } = world();
    const leases = client.resource(Leases);
    const create: typeof leases.create = async (...given) => {
      const created = await leases.create(...given);
      a.stop();
      return created;
    };
    client.resource = () => ({ ...leases, create }) as never;
    const a = candidate('a');
    await a.running;
    expect(await lease()).toMatchObject({ holderIdentity: '' });
    expect([...leading]).toEqual([]);
  });

  test('waits until the lease of a vanished leader expires', async () => {
    const { clock, client, leading, candidate } = world();
    await client.resource(Leases).create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: key,
      // A clock that is far ahead or behind has no influence.
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' },
    });
    candidate('b');
    await clock.advance(14_000);
    expect([...leading]).toEqual([]);
    await clock.advance(2_000);
    expect([...leading]).toEqual(['b']);
  });

  test('does not take a change of the metadata of a vanished leader’s lease as a renewal', async () => {
    const { clock, client, leading, candidate } = world();
    const leases = client.resource(Leases);
    const spec = { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' };
    await leases.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec });
    candidate('b');
    await clock.advance(10_000);
    const found = await leases.get(key);
    if (found === undefined) throw new Error('no lease');
    await leases.update({ ...found, metadata: { ...found.metadata, labels: { seen: 'yes' } } });
    await clock.advance(6_000);
    expect([...leading]).toEqual(['b']);
  });

  test('stops the work of a leader that cannot renew before anybody else begins', async () => {
    const { clock, client, leading, candidate } = world();
    const a = candidate('a');
    await settled();
    client.fail = () => serviceUnavailable('gone');
    await clock.advance(9_999);
    expect([...leading]).toEqual(['a']);
    await clock.advance(1);
    expect([...leading]).toEqual([]);
    await expect(a.running).rejects.toBeInstanceOf(LeadershipLost);
  });

  test.each(['deleted', 'edited'])('stops a leader at once whose lease was %s and taken by another', async (how) => {
    const { clock, client, leading, candidate } = world();
    const a = candidate('a');
    await settled();
    const leases = client.resource(Leases);
    const held = await leases.get(key);
    if (how === 'deleted') await leases.delete(key);
    const { resourceVersion: _, ...metadata } = held?.metadata ?? {};
    const taken = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: { holderIdentity: 'b' } };
    await (how === 'deleted' ? leases.create(taken) : leases.update(taken));
    await clock.advance(1_999);
    expect([...leading]).toEqual(['a']);
    await clock.advance(1);
    expect([...leading]).toEqual([]);
    await expect(a.running).rejects.toEqual(new LeadershipLost('the lease lock was taken by b'));
  });

  test('reports a server that did not answer, and not the cancelled renewal', async () => {
    const { clock, client } = world();
    const warned: unknown[] = [];
    const log = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) };
    const leases = client.resource(Leases);
    let isSilent = false;
    const until = (signal: AbortSignal): Client => {
      const get: typeof leases.get = (at) =>
        isSilent
          ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
          : leases.get(at);
      return withAbortFactory({ discover: async () => [], resource: () => ({ ...leases, get }) as never }, until);
    };
    const a = whileLeading({ lease: key, identity: 'a' }, busyUntilStopped).run({
      client: until(new AbortController().signal),
      clock,
      log,
      signal: new AbortController().signal,
    });
    a.catch(() => {});
    await settled();
    isSilent = true;
    await clock.advance(20_000);
    await expect(a).rejects.toEqual(
      new LeadershipLost('the lease lock could not be renewed: the server did not answer'),
    );
    expect(warned).toEqual([]);
  });

  test.each(['itself', 'a reconcile with a limited time', 'a manager of its own'])(
    'makes a process that was suspended for too long write nothing: %s',
    async (by) => {
      const { clock, client, candidate } = world();
      let suspendedMs = 0;
      const own: Clock = {
        now: () => clock.now(),
        monotonic: () => clock.monotonic() + suspendedMs,
        sleep: (...given) => clock.sleep(...given),
      };
      const failures: unknown[] = [];
      const write = async ({ client }: Pick<ReconcileContext, 'client'>): Promise<void> => {
        await systemClock.sleep(0);
        // The event it waited for has arrived, and no timer has fired yet.
        suspendedMs = 60_000;
        const metadata = { namespace: 'n', name: 'a' };
        const written = client
          .resource(Leases)
          .create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata });
        await written.catch((error: unknown) => failures.push(error));
      };
      const timed = defineKeyedController('timed', () => ({
        identity: () => 'one',
        timeoutMs: 1_000,
        start: (wake) => wake(undefined, 'start'),
        reconcile: (_, context) => write(context),
      }));
      const direct: Runnable = { name: 'direct', run: write };
      const managed: Runnable = {
        name: 'managed',
        run: ({ signal }) => createManager({ client, clock: own }).add(timed).run(signal),
      };
      const alsoBy: Readonly<Record<string, Runnable>> = { itself: direct, 'a manager of its own': managed };
      candidate('a', { clock: own, also: [alsoBy[by] ?? timed] });
      await expect.poll(() => failures).toEqual([expect.any(LeadershipLost)]);
      expect((await client.resource(Leases).list({ namespace: 'n' })).items).toEqual([]);
    },
  );

  test('ends when the server does not answer', async () => {
    const { clock, client, leading, candidate } = world();
    const leases = client.resource(Leases);
    let answers = true;
    const get: typeof leases.get = (at) => (answers ? leases.get(at) : new Promise(() => {}));
    client.resource = () => ({ ...leases, get }) as never;
    const a = candidate('a');
    await settled();
    answers = false;
    await clock.advance(9_999);
    expect([...leading]).toEqual(['a']);
    await clock.advance(1);
    expect([...leading]).toEqual([]);
    await expect(a.running).rejects.toBeInstanceOf(LeadershipLost);
  });

  test.each([3_600_000, 7_000])('ends in time although the clock is set back by %i ms', async (milliseconds) => {
    const { clock, client, leading, candidate } = world();
    const a = candidate('a');
    await settled();
    client.fail = () => serviceUnavailable('gone');
    await clock.advance(8_500);
    clock.set(clock.now() - milliseconds);
    await clock.advance(1_499);
    expect([...leading]).toEqual(['a']);
    await clock.advance(1);
    expect([...leading]).toEqual([]);
    await expect(a.running).rejects.toBeInstanceOf(LeadershipLost);
  });

  test('ends in time although no retry falls on the deadline', async () => {
    const { clock, client, leading, candidate } = world();
    const a = candidate('a', { options: { retryMs: 7_000 } });
    await settled();
    client.fail = () => serviceUnavailable('gone');
    await clock.advance(9_999);
    expect([...leading]).toEqual(['a']);
    await clock.advance(1);
    expect([...leading]).toEqual([]);
    await expect(a.running).rejects.toBeInstanceOf(LeadershipLost);
  });

  test('makes a candidate that learns late of a renewal wait from then on', async () => {
    const { clock, candidate, second } = world();
    const { through, cut } = cable();
    candidate('a', { through });
    await settled();
    let isSlow = true;
    candidate('b', {
      through: (leases) => ({
        get: async (at) => {
          if (isSlow) await clock.sleep(12_100);
          isSlow = false;
          return leases.get(at);
        },
      }),
    });
    await clock.advance(12_101);
    cut(); // it renewed after 12 s, so it leads until 22 s
    await clock.advance(12_000);
    expect(second).toEqual([]);
  });

  test.each([9_000, 12_000])('counts the %i ms that it took to learn of the lease as time led', async (late) => {
    const { clock, candidate, second, leading } = world();
    const { through, cut } = cable();
    candidate('a', {
      through: (leases) => ({
        ...through(leases),
        create: async (...given) => {
          const created = await leases.create(...given);
          await clock.sleep(late);
          cut();
          return created;
        },
      }),
    });
    await settled();
    candidate('b');
    await clock.advance(9_999);
    expect([...leading]).toEqual(late < 10_000 ? ['a'] : []);
    await clock.advance(1);
    expect([...leading]).toEqual([]);
    await clock.advance(6_000);
    expect([...leading]).toEqual(['b']);
    expect(second).toEqual([]);
  });

  test('retries when the lease was obtained too late', async () => {
    const { clock, candidate, leading } = world();
    candidate('a', {
      through: (leases) => ({
        create: async (...given) => {
          const created = await leases.create(...given);
          await clock.sleep(12_000);
          return created;
        },
      }),
    });
    await clock.advance(13_999);
    expect([...leading]).toEqual([]);
    await clock.advance(1);
    expect([...leading]).toEqual(['a']);
  });

  test('is not affected by a candidate whose clock is set forward', async () => {
    const { clock, candidate, second } = world();
    candidate('a', { options: { retryMs: 3_100 } });
    await settled();
    let ahead = 0;
    const own: Clock = {
      now: () => clock.now() + ahead,
      monotonic: () => clock.monotonic(),
      sleep: (...given) => clock.sleep(...given),
    };
    candidate('b', { clock: own });
    await clock.advance(4_500); // b checked after 4 s; a renewed after 3.1 s and will renew after 6.2 s
    ahead = 3_600_000;
    await clock.advance(1_600);
    expect(second).toEqual([]);
  });

  /** Writes once a second, for 20 seconds, whatever happens. */
  const busy = (clock: Clock): Runnable => ({
    name: 'busy',
    run: async ({ client }) => {
      for (let at = 0; at < 20; at++) {
        await clock.sleep(1_000);
        const written = {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { namespace: 'n', name: `${at}` },
        };
        await client
          .resource(Leases)
          .create(written)
          .catch(() => {});
      }
    },
  });

  test.each(['the client it was given', 'a manager of its own'])(
    'makes a former leader write nothing more by %s',
    async (by) => {
      const { clock, client, candidate } = world();
      const { through, cut } = cable();
      const work = busy(clock);
      const managed: Runnable = {
        name: 'managed',
        run: ({ signal }) => createManager({ client, clock }).add(work).run(signal),
      };
      const a = candidate('a', { through, also: [by === 'a manager of its own' ? managed : work] });
      await settled();
      cut();
      await clock.advance(30_000);
      await expect(a.running).rejects.toBeInstanceOf(LeadershipLost);
      expect((await client.resource(Leases).list({ namespace: 'n' })).items.length).toBe(9);
    },
  );

  test('keeps the lease while a runnable that was left behind may be at work', async () => {
    const { clock, client, candidate, lease } = world();
    const managed: Runnable = {
      name: 'managed',
      run: ({ signal }) => createManager({ client, clock, graceMs: 5_000 }).add(busy(clock)).run(signal),
    };
    const a = candidate('a', { also: [managed] });
    await settled();
    a.stop();
    await clock.advance(5_000);
    await expect(a.running).rejects.toBeInstanceOf(RunnablesLeftBehind);
    expect(await lease()).toMatchObject({ holderIdentity: 'a' });
  });

  test('lets nobody else lead while the former work is still ending', async () => {
    const { clock, leading, candidate } = world();
    const a = candidate('a', { options: { graceMs: 30_000 }, also: [busy(clock)] });
    await settled();
    candidate('b');
    a.stop();
    await clock.advance(19_999);
    expect([...leading]).toEqual([]);
    await clock.advance(1);
    await a.running;
    await clock.advance(2_000);
    expect([...leading]).toEqual(['b']);
  });

  test("does not give away another's lease when the work ends after its own lease", async () => {
    const { clock, candidate, lease } = world();
    const { through, cut } = cable();
    const a = candidate('a', { through, options: { graceMs: 30_000 }, also: [busy(clock)] });
    await settled();
    candidate('b');
    a.stop();
    cut();
    await clock.advance(19_999);
    expect(await lease()).toMatchObject({ holderIdentity: 'b' });
    await clock.advance(1);
    await a.running;
    expect(await lease()).toMatchObject({ holderIdentity: 'b' });
  });

  test.each([0, 1])('gives back a lease whose creation was never confirmed, after %i refusals', async (refusals) => {
    const { clock, candidate, lease } = world();
    let refused = 0;
    const a = candidate('a', {
      through: (leases) => ({
        create: async (...given) => {
          await leases.create(...given);
          throw new Error('the connection broke off');
        },
        update: async (...given) => {
          if (refused++ < refusals) throw serviceUnavailable('busy');
          return leases.update(...given);
        },
      }),
    });
    await settled();
    await clock.advance(refusals * 2_000);
    expect(await lease()).toMatchObject({ holderIdentity: 'a', renewTime: '2026-01-01T00:00:00.000000Z' });
    a.stop();
    await a.running;
    expect(await lease()).toMatchObject({ holderIdentity: '' });
  });

  test.each([
    ['a candidate', 0],
    ['a leader', 5_000],
  ])('ends %s within %i ms of a stop although the server does not answer', async (who, withinMs) => {
    const { clock, client } = world();
    let isSilent = who === 'a candidate';
    const until = (signal: AbortSignal): Client => {
      const silent = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      silent.catch(() => {});
      const leases = client.resource(Leases);
      const get: typeof leases.get = (at) => (isSilent ? silent : leases.get(at));
      const ending = { discover: () => client.discover(), resource: () => ({ ...leases, get }) as never };
      return withAbortFactory(ending, (other) => until(AbortSignal.any([signal, other])));
    };
    const stop = new AbortController();
    const leader = whileLeading(
      { lease: key, random: () => 0 },
      { name: 'work', run: async ({ signal }) => systemClock.sleep(Number.POSITIVE_INFINITY, signal) },
    );
    let isOver = false;
    const running = createManager({ client: until(new AbortController().signal), clock })
      .add(leader)
      .run(stop.signal);
    void running.then(() => {
      isOver = true;
    });
    await settled();
    isSilent = true;
    await clock.advance(2_500);
    stop.abort();
    await clock.advance(withinMs);
    expect(isOver).toBe(true);
  });

  test('reports a lost lease even if a runnable does not stop', async () => {
    const { clock, candidate } = world();
    const { through, cut } = cable();
    const a = candidate('a', { through, also: [{ name: 'stuck', run: () => new Promise<void>(() => {}) }] });
    await settled();
    cut();
    const failure = a.running.catch((error: unknown) => error);
    await clock.advance(10_000 + 30_000);
    expect(await Promise.race([failure, 'nothing'])).toBeInstanceOf(LeadershipLost);
  });

  test('reports a stuck runnable when another fails or the leader is stopped', async () => {
    for (const end of ['fails', 'told'] as const) {
      const { clock, candidate, lease } = world();
      const fails = new AbortController();
      const failing: Runnable = {
        name: 'failing',
        run: async () => {
          await systemClock.sleep(Number.POSITIVE_INFINITY, fails.signal);
          throw new Error('not well');
        },
      };
      const stuck: Runnable = { name: 'stuck', run: () => new Promise<void>(() => {}) };
      const a = candidate('a', { options: { graceMs: 5_000 }, also: end === 'fails' ? [failing, stuck] : [stuck] });
      await settled();
      if (end === 'fails') fails.abort();
      else a.stop();
      const failure = a.running.catch((error: unknown) => error);
      await clock.advance(5_000);
      expect(await Promise.race([failure, 'nothing'])).toMatchObject({ message: 'stuck did not stop within 5000 ms' });
      expect(await lease()).toMatchObject({ holderIdentity: 'a' });
    }
  });

  test('keeps the lease while a runnable is still at work after another has failed', async () => {
    const { clock, candidate, lease } = world();
    const failing: Runnable = {
      name: 'failing',
      run: async ({ signal }) => {
        await systemClock.sleep(Number.POSITIVE_INFINITY, signal);
        throw new Error('not well');
      },
    };
    const a = candidate('a', { options: { graceMs: 30_000 }, also: [failing, busy(clock)] });
    await settled();
    a.stop();
    await clock.advance(19_999);
    expect(await lease()).toMatchObject({ holderIdentity: 'a' });
    await clock.advance(1);
    await expect(a.running).rejects.toThrow('not well');
    expect(await lease()).toMatchObject({ holderIdentity: '' });
  });

  test('rounds the seconds of a lease up', async () => {
    const { clock, candidate, second, leading, lease } = world();
    const { through, cut } = cable();
    const options = { leaseMs: 3_400, renewDeadlineMs: 3_300, retryMs: 500 };
    candidate('a', { through, options });
    await settled();
    expect(await lease()).toMatchObject({ leaseDurationSeconds: 4 });
    candidate('b', { options: { ...options, retryMs: 100 } });
    cut();
    await clock.advance(3_200);
    expect([...leading]).toEqual(['a']);
    await clock.advance(1_000);
    expect([...leading]).toEqual(['b']);
    expect(second).toEqual([]);
    expect(await lease()).toMatchObject({ leaseDurationSeconds: 4 });
  });

  test.each<[string, Partial<LeaderOptions>]>([
    ['leaseMs', { leaseMs: 10_000 }],
    ['leaseMs', { leaseMs: Number.NaN }],
    ['leaseMs', { renewDeadlineMs: Number.NaN }],
    ['renewDeadlineMs', { renewDeadlineMs: 2_000 }],
    ['renewDeadlineMs', { retryMs: Number.NaN }],
    ['retryMs', { retryMs: 0 }],
    ['identity', { identity: '' }],
  ])('refuses settings that could let two lead, or retry without a pause: %s of %o', (setting, options) => {
    expect(() => whileLeading({ lease: key, ...options })).toThrow(setting);
  });
});
