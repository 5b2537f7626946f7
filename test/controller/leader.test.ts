import { describe, expect, test } from 'vitest';
import { serviceUnavailable } from '../../src/api/errors.js';
import { Leases } from '../../src/api/kinds/lease.js';
import { LeadershipLost, whileLeading } from '../../src/controller/leader.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

const key = { namespace: 'kube-system', name: 'lock' };

function world() {
  const clock = new FakeClock();
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

  test('settings that could let two lead are refused', () => {
    expect(() => whileLeading({ lease: key, leaseMs: 10_000 })).toThrow('leaseMs');
    expect(() => whileLeading({ lease: key, renewDeadlineMs: 2_000 })).toThrow('renewDeadlineMs');
  });
});
