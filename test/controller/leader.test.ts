import { describe, expect, test } from 'vitest';
import { serviceUnavailable } from '../../src/api/errors.js';
import { Leases } from '../../src/api/kinds/lease.js';
import { LeadershipLost, whileLeading } from '../../src/controller/leader.js';
import { type Clock, systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';
import { SetBackClock } from '../set-back.js';

const key = { namespace: 'kube-system', name: 'lock' };

function world<C extends Clock = FakeClock>(clock: C = new FakeClock() as Clock as C) {
  const client = new FakeClient(clock);
  const leading = new Set<string>();
  const candidate = (identity: string) => {
    const stop = new AbortController();
    const work = {
      name: 'work',
      run: async ({ signal }: { readonly signal: AbortSignal }) => {
        leading.add(identity);
        await systemClock.sleep(Number.POSITIVE_INFINITY, signal);
        leading.delete(identity);
      },
    };
    const running = whileLeading({ lease: key, identity, random: () => 0 }, work).run({
      client,
      clock,
      log: silentLogger,
      signal: stop.signal,
    });
    running.catch(() => {});
    return { running, stop: () => stop.abort() };
  };
  const lease = async () => (await client.resource(Leases).get(key))?.spec;
  return { clock, client, leading, candidate, lease };
}

describe('leader election', () => {
  test('one of two leads and keeps renewing', async () => {
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

  test('the other takes over at once when the leader stops in order', async () => {
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

  test('one that is stopped while it takes the lease gives it back', async () => {
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

  test('the other waits out the lease of a leader that is gone', async () => {
    const { clock, client, leading, candidate } = world();
    await client.resource(Leases).create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: key,
      // A clock that is far ahead or behind means nothing.
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' },
    });
    candidate('b');
    await clock.advance(14_000);
    expect([...leading]).toEqual([]);
    await clock.advance(2_000);
    expect([...leading]).toEqual(['b']);
  });

  test('a leader that cannot renew stops working before anybody else begins', async () => {
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

  test('nor does a server that does not answer keep it leading', async () => {
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

  test('nor does a clock that is set back', async () => {
    const { clock, client, leading, candidate } = world(new SetBackClock());
    const a = candidate('a');
    await settled();
    client.fail = () => serviceUnavailable('gone');
    clock.setBack(3_600_000);
    await clock.advance(9_999);
    expect([...leading]).toEqual([]);
    await expect(a.running).rejects.toBeInstanceOf(LeadershipLost);
  });

  test('settings that could let two lead are refused', () => {
    expect(() => whileLeading({ lease: key, leaseMs: 10_000 })).toThrow('leaseMs');
    expect(() => whileLeading({ lease: key, renewDeadlineMs: 2_000 })).toThrow('renewDeadlineMs');
  });
});
