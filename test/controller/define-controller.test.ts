import { firstValueFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { ApiError, noSuchResource, notFound, staleWrite } from '../../src/api/errors.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { type Namespace, Namespaces } from '../../src/api/kinds/namespace.js';
import { type RoleBinding, RoleBindings } from '../../src/api/kinds/role-binding.js';
import { groupVersion, keyOf, keyText, type ObjectKey, resourceType, type Unstructured } from '../../src/api/object.js';
import type { Client, ResourceClient } from '../../src/client/client.js';
import type { RateLimit } from '../../src/controller/backoff.js';
import {
  type ControllerSpec,
  type ReconcileContext,
  type Runnable,
  TerminalError,
} from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { addFinalizer, removeFinalizer, withFinalizer } from '../../src/controller/finalizer.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { whileLeading } from '../../src/controller/leader.js';
import { createManager, RunnablesLeftBehind } from '../../src/controller/manager.js';
import { writeStatus } from '../../src/controller/write-status.js';
import type { Logger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';
import { Things, thing } from '../things.js';

const Parts = resourceType({
  group: 'example.com',
  version: 'v1',
  plural: 'parts',
  kind: 'Part',
  namespaced: true,
});

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

function recorder(lines: Line[], bound: object = {}): Logger {
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, ...bound, ...fields });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recorder(lines, { ...bound, ...fields }),
  };
}

type Spec = ControllerSpec<Unstructured, readonly Unstructured[]>;
async function start(spec: Omit<Spec, 'name' | 'for'> & { readonly for?: typeof Things }) {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const stop = new AbortController();
  const lines: Line[] = [];
  const running = createManager({ client, clock, log: recorder(lines) })
    .add(defineController({ name: 'test', for: Things, ...spec }))
    .run(stop.signal);
  await settled();
  const reconciles = (): readonly Line[] => lines.filter(({ message }) => message.startsWith('reconcile'));
  return { clock, client, stop, running, lines, reconciles, things: client.resource(Things) };
}

describe('a controller', () => {
  test('reconciles existing and new objects, reading them fresh', async () => {
    const seen: unknown[] = [];
    const { things } = await start({
      reconcile: async (object) => {
        seen.push(object['spec']);
      },
    });
    await things.create(thing('a', { spec: 1 }));
    await things.update(thing('a', { spec: 2 }));
    await settled();
    expect(seen.at(-1)).toBe(2);
    expect(seen.length).toBeLessThanOrEqual(2);
  });

  test('writes one log line per reconcile with its fixed fields', async () => {
    const { things, reconciles } = await start({ reconcile: async () => {} });
    await things.create(thing('a'));
    await settled();
    expect(reconciles()).toMatchObject([
      { controller: 'test', object: 'n/a', cause: 'added', attempt: 1, durationMs: 0, result: 'done' },
    ]);
  });

  test('leaves an object alone until it is due, however often it changes', async () => {
    const begun = Date.parse('2026-01-01T00:00:00Z');
    const { things, reconciles, clock } = await start({
      dueAt: ({ spec }) => (typeof spec === 'number' ? begun + spec : undefined),
      reconcile: async () => {},
    });
    await things.create(thing('never'));
    await things.create(thing('now', { spec: -1 }));
    await things.create(thing('later', { spec: 60_000 }));
    await things.update(thing('later', { spec: 50_000 }));
    await clock.advance(49_999);
    expect(reconciles()).toMatchObject([{ object: 'n/now' }]);
    await clock.advance(1);
    expect(reconciles()).toMatchObject([{ object: 'n/now' }, { object: 'n/later', cause: 'requeue' }]);
  });

  test('reconciles an object with a postponed due time when that comes', async () => {
    const begun = Date.parse('2026-01-01T00:00:00Z');
    const due = ({ spec }: Unstructured): number => begun + Number(spec);
    const done: number[] = [];
    const { things, clock } = await start({
      dueAt: due,
      reconcile: async (object, context) => {
        if (context.clock.now() >= due(object)) done.push(context.clock.now() - begun);
      },
    });
    await things.create(thing('a', { spec: 50_000 }));
    await settled();
    await things.update(thing('a', { spec: 60_000 }));
    await clock.advance(59_999);
    expect(done).toEqual([]);
    await clock.advance(100_000);
    expect(done).toEqual([60_000]);
  });

  test('retries a failure with growing delays, and logs it as a warning', async () => {
    let failures = 3;
    const { clock, things, reconciles } = await start({
      reconcile: async () => {
        if (failures-- > 0) throw new Error('not yet');
      },
    });
    await things.create(thing('a'));
    await clock.advance(4);
    expect(reconciles().length).toBe(1);
    await clock.advance(100);
    expect(reconciles().map(({ level, cause, attempt, result }) => [level, cause, attempt, result])).toEqual([
      ['warn', 'added', 1, 'retry'],
      ['warn', 'retry', 2, 'retry'],
      ['warn', 'retry', 3, 'retry'],
      ['info', 'retry', 4, 'done'],
    ]);
  });

  test.each([
    ['ten a second after the first hundred, by default', undefined, 100 + 10],
    ['at its own rate limit', { perSecond: 1_000, burst: 1_000 }, 200],
  ])('retries many failed objects at a limited rate: %s', async (_, rateLimit, tried) => {
    const { clock, things, reconciles } = await start({
      ...(rateLimit === undefined ? {} : { rateLimit }),
      backoff: { baseMs: 100, capMs: 100 },
      reconcile: async ({ metadata }, context) => {
        if (context.clock.monotonic() === 0) throw new Error(`not yet ${metadata.name}`);
      },
    });
    for (let at = 0; at < 200; at++) await things.create(thing(`a${at}`));
    await clock.advance(1_000);
    expect(reconciles().filter(({ result }) => result === 'done').length).toBe(tried);
  });

  test('retries whatever was thrown, even a value that cannot be inspected', async () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const thrown = [revoked.proxy, undefined, null, Symbol('s'), Object.create(null)];
    const { clock, things, lines } = await start({
      reconcile: async () => {
        if (thrown.length > 0) throw thrown.shift();
      },
    });
    await things.create(thing('a'));
    await clock.advance(1_000);
    expect(thrown).toEqual([]);
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(5);
    expect(lines.at(-1)).toMatchObject({ result: 'done', attempt: 6 });
  });

  const stale = staleWrite({ group: '', plural: 'things', name: 'a' });
  const gone = notFound({ group: '', plural: 'things', name: 'a' });
  const otherGone = notFound({ group: '', plural: 'things', name: 'b' });
  const owned = new ApiError({
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "other": .spec',
    details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "other"', field: '.spec' }] },
  });
  test.each([
    ['a conflict is a warning only when it is repeated', stale, ['debug', 'debug', 'debug', 'warn', 'info']],
    [
      'a concurrent deletion of the object is a warning only when it is repeated',
      gone,
      ['debug', 'debug', 'debug', 'warn', 'info'],
    ],
    ['a missing other object is a warning', otherGone, ['warn', 'warn', 'warn', 'warn', 'info']],
    ['an apply conflict with another field manager is a warning', owned, ['warn', 'warn', 'warn', 'warn', 'info']],
  ])('%s', async (_, error, levels) => {
    let failures = 4;
    const { clock, things, reconciles } = await start({
      reconcile: async () => {
        if (failures-- > 0) throw error;
      },
    });
    await things.create(thing('a'));
    await clock.advance(100);
    expect(reconciles().map(({ level }) => level)).toEqual(levels);
  });

  test('does not retry a terminal error until the object changes', async () => {
    const { clock, things, reconciles } = await start({
      reconcile: async () => {
        throw new TerminalError('never');
      },
    });
    await things.create(thing('a'));
    await clock.advance(1_000_000);
    expect(reconciles().map(({ level, result }) => [level, result])).toEqual([['error', 'terminal']]);
    await things.update(thing('a', { spec: 1 }));
    await settled();
    expect(reconciles().length).toBe(2);
  });

  test('reconciles again after the requested time', async () => {
    const { clock, things, reconciles } = await start({ reconcile: async () => ({ requeueAfterMs: 60_000 }) });
    await things.create(thing('a'));
    await clock.advance(59_999);
    expect(reconciles().length).toBe(1);
    await clock.advance(1);
    expect(reconciles().map(({ cause, result }) => [cause, result])).toEqual([
      ['added', 'requeue'],
      ['requeue', 'requeue'],
    ]);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'treats a requeue time of %s as an error, and retries with back-off',
    async (requeueAfterMs) => {
      let left = 3;
      const { clock, things, reconciles } = await start({
        reconcile: async () => (left-- > 0 ? { requeueAfterMs } : undefined),
      });
      await things.create(thing('a'));
      await clock.advance(100);
      expect(reconciles().map(({ level, result }) => [level, result])).toEqual([
        ['warn', 'retry'],
        ['warn', 'retry'],
        ['warn', 'retry'],
        ['info', 'done'],
      ]);
      const message = `reconcile returned requeueAfterMs: ${requeueAfterMs}, which is not a finite number`;
      expect(reconciles()[0]?.['err']).toMatchObject({ message });
    },
  );

  test('evaluates its guard on the event and again on the fresh object', async () => {
    const seen: string[] = [];
    const { things, client } = await start({
      when: ({ spec }) => spec === 'wanted',
      reconcile: async ({ metadata }) => {
        seen.push(metadata.name ?? '');
      },
    });
    const before = client.calls.filter(({ verb }) => verb === 'get').length;
    await things.create(thing('ignored'));
    await settled();
    expect(client.calls.filter(({ verb }) => verb === 'get').length).toBe(before);
    await things.create(thing('wanted', { spec: 'wanted' }));
    await things.create(thing('changed', { spec: 'wanted' }));
    await things.update(thing('changed', { spec: 'other' }));
    await settled();
    expect(seen).toEqual(['wanted']);
  });

  test('passes the previous state to its guard, and is not woken by its own writes', async () => {
    const asked: unknown[] = [];
    const { things, client, reconciles } = await start({
      when: ({ spec }, previous) => {
        asked.push([previous?.['spec'], spec]);
        return spec !== previous?.['spec'];
      },
      reconcile: async (object, context) => {
        await writeStatus(context.client.resource(Things), object, { seen: object['spec'] });
      },
    });
    await things.create(thing('a', { spec: 1 }));
    await settled();
    await things.update(thing('a', { spec: 2 }));
    await settled();
    expect(reconciles().map(({ cause }) => cause)).toEqual(['added', 'modified']);
    expect(client.writes.filter((write) => write.includes('status')).length).toBe(2);
    const fresh = undefined;
    expect(asked).toEqual([
      [undefined, 1],
      [fresh, 1],
      [1, 1],
      [1, 2],
      [fresh, 2],
      [2, 2],
    ]);
  });

  test.each<[string, Pick<ControllerSpec<Unstructured>, 'metadataOnly' | 'transform'>]>([
    ['metadata', { metadataOnly: true }],
    ['the transformed object', { transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) }],
  ])('keeps only %s in memory, and reconciles the whole object', async (_, held) => {
    const asked: unknown[] = [];
    const seen: unknown[] = [];
    const { things, client } = await start({
      ...held,
      alsoOn: [
        { on: Parts, ...held, keys: async (part) => [part['spec'] === undefined ? keyOf(part) : { name: 'x' }] },
      ],
      when: ({ spec }) => asked.push(spec) > 0,
      reconcile: async ({ spec }) => void seen.push(spec),
    });
    await things.create(thing('a', { spec: 1 }));
    await settled();
    expect({ asked, seen }).toEqual({ asked: [undefined, 1], seen: [1] });
    await client.resource(Parts).create({ ...thing('a', { spec: 2 }), kind: 'Part' });
    await settled();
    expect(seen).toEqual([1, 1]);
  });

  test('reports a guard that throws, and goes on', async () => {
    const { things, lines, clock } = await start({
      when: (object) => (object['spec'] as { deep: { er: boolean } }).deep.er,
      reconcile: async () => {},
    });
    await things.create(thing('odd'));
    await clock.advance(6);
    expect(lines.some(({ level, object }) => level === 'warn' && object === 'n/odd')).toBe(true);
    await things.create(thing('fine', { spec: { deep: { er: true } } }));
    await settled();
    expect(lines.some(({ object, result }) => object === 'n/fine' && result === 'done')).toBe(true);
  });

  test('handles a deletion with the last state, and retries until that succeeds', async () => {
    const seen: unknown[] = [];
    let failures = 1;
    const { clock, things } = await start({
      reconcile: async () => {},
      deleted: async (last) => {
        if (failures-- > 0) throw new Error('not yet');
        seen.push(last['spec']);
      },
    });
    await things.create(thing('a', { spec: 7 }));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await clock.advance(100);
    expect(seen).toEqual([7]);
  });

  test('handles a deletion again after the requested time, whatever else has the name', async () => {
    const begun = Date.parse('2026-01-01T00:00:00Z');
    const seen: string[] = [];
    let rounds = 3;
    const { clock, things } = await start({
      reconcile: async () => ({ requeueAfterMs: 3_600_000 }),
      deleted: async ({ metadata }, context) => {
        seen.push(`${metadata.uid} ${context.clock.now() - begun}`);
        return --rounds > 0 ? { requeueAfterMs: 1_000 } : undefined;
      },
    });
    await things.create(thing('a'));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await clock.advance(1_500);
    await things.create(thing('a'));
    await clock.advance(5_000);
    expect(seen).toEqual(['uid-1 0', 'uid-1 1000', 'uid-1 1500']);
  });

  test('leaves an object alone that is never due', async () => {
    const { clock, things, reconciles } = await start({ dueAt: () => Infinity, reconcile: async () => {} });
    await things.create(thing('a'));
    await clock.advance(10_000);
    expect(reconciles()).toEqual([]);
  });

  test('handles the deletion of the old object before it reconciles a new one of the same name', async () => {
    const seen: string[] = [];
    const { clock, things } = await start({
      reconcile: async ({ metadata }) => {
        seen.push(`there ${metadata.uid}`);
      },
      deleted: async ({ metadata }) => {
        seen.push(`gone ${metadata.uid}`);
      },
    });
    await things.create(thing('a'));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await things.create(thing('a'));
    await clock.advance(10);
    expect(seen).toEqual(['there uid-1', 'gone uid-1', 'there uid-2']);
  });

  /** Starts a controller whose worker is busy until it is released. */
  async function busy(spec: Pick<ControllerSpec<Unstructured>, 'deleted'>) {
    const seen: string[] = [];
    let free = (): void => {};
    const work = new Promise<void>((resolve) => {
      free = resolve;
    });
    const world = await start({
      ...spec,
      reconcile: async ({ metadata }) => {
        seen.push(`there ${metadata.uid}`);
        await work;
      },
    });
    const remake = async (): Promise<void> => {
      await world.things.create(thing('a'));
      await settled();
    };
    const remove = async (): Promise<void> => {
      await world.things.delete({ namespace: 'n', name: 'a' });
      await settled();
    };
    await remake();
    return { ...world, seen, free, remake, remove };
  }

  test('handles the deletions of all objects that had one name while a worker was busy', async () => {
    let failures = 1;
    const { clock, free, remake, remove, seen } = await busy({
      deleted: async ({ metadata }) => {
        if (metadata.uid === 'uid-2' && failures-- > 0) throw new Error('not yet');
        seen.push(`gone ${metadata.uid}`);
      },
    });
    await remove();
    for (let at = 0; at < 2; at++) {
      await remake();
      await remove();
    }
    await remake();
    free();
    await clock.advance(100);
    const again = ['gone uid-2', 'there uid-4'];
    expect(seen).toEqual(['there uid-1', 'gone uid-1', 'gone uid-3', 'there uid-4', ...again]);
  });

  test('handles others of a name after giving up on a deletion', async () => {
    const { clock, free, remake, remove, seen } = await busy({
      deleted: async ({ metadata }) => {
        seen.push(`gone ${metadata.uid}`);
        if (metadata.uid !== 'uid-2') throw new TerminalError('never');
      },
    });
    await remove();
    await remake();
    await remove();
    await remake();
    free();
    await clock.advance(1_000_000);
    expect(seen).toEqual(['there uid-1', 'gone uid-1', 'gone uid-2', 'there uid-3']);
  });

  test.each([
    ['succeeds', undefined],
    ['fails for good', new TerminalError('never')],
  ])("handles others of a name while a deletion keeps failing, and the new one's reconcile %s", async (_, outcome) => {
    const seen: string[] = [];
    let failures = 3;
    const { clock, things } = await start({
      reconcile: async ({ metadata }) => {
        seen.push(`there ${metadata.uid}`);
        if (metadata.uid === 'uid-2' && outcome !== undefined) throw outcome;
      },
      deleted: async ({ metadata }) => {
        if (failures-- > 0) throw new Error('not yet');
        seen.push(`gone ${metadata.uid}`);
      },
    });
    await things.create(thing('a'));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await things.create(thing('a'));
    await clock.advance(1_000_000);
    const there = 'there uid-2';
    expect(seen).toEqual(['there uid-1', there, there, 'gone uid-1', there]);
  });

  test('requeues a new object while the deletion of its predecessor keeps failing', async () => {
    let looks = 0;
    const { clock, things } = await start({
      reconcile: async () => {
        looks++;
        return { requeueAfterMs: 1_000 };
      },
      deleted: async () => {
        throw new Error('not yet');
      },
    });
    await things.create(thing('a'));
    await things.delete({ namespace: 'n', name: 'a' });
    await things.create(thing('a'));
    await clock.advance(100_000);
    const before = looks;
    await clock.advance(100_000);
    expect(looks - before).toBeGreaterThanOrEqual(99);
  });

  test('handles the deletion of an object on which it gave up meanwhile', async () => {
    const gone: unknown[] = [];
    const { clock, things } = await start({
      reconcile: async (_, context) => {
        await context.clock.sleep(10);
        throw new TerminalError('never');
      },
      deleted: async (last) => void gone.push(last.metadata.uid),
    });
    await things.create(thing('a'));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await clock.advance(100);
    expect(gone).toEqual(['uid-1']);
  });

  test('passes an unmodified last state when a deletion is handled again', async () => {
    const gone: unknown[] = [];
    const { clock, things } = await start({
      reconcile: async () => {},
      deleted: async (last) => {
        gone.push(last.metadata.uid);
        Object.assign(last, { metadata: {} });
        if (gone.length === 1) throw new Error('not yet');
      },
    });
    await things.create(thing('a'));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await clock.advance(100);
    expect(gone).toEqual(['uid-1', 'uid-1']);
  });

  test('handles the end of an object once, with its last state, that left the selection and came back', async () => {
    const gone: unknown[] = [];
    const { clock, client, things } = await start({
      labelSelector: 'mine=yes',
      reconcile: async (_, context) => {
        await context.clock.sleep(10);
        return { requeueAfterMs: 100 };
      },
      deleted: async ({ spec }) => void gone.push(spec),
    });
    const labelled = (mine: string, spec: string): Unstructured =>
      thing('a', { metadata: { name: 'a', namespace: 'n', labels: { mine } }, spec });
    await things.create(labelled('yes', 'new'));
    await settled();
    await things.update(labelled('no', 'outside'));
    await things.update(labelled('yes', 'back'));
    await clock.advance(50);
    client.dropWatches(new Error('socket hang up'));
    await things.delete({ namespace: 'n', name: 'a' });
    await clock.advance(10_000);
    expect(gone).toEqual(['back']);
  });

  test.each<[string, Pick<ControllerSpec<Unstructured>, 'labelSelector' | 'fieldSelector'>, object, object]>([
    ['labels', { labelSelector: 'mine=yes' }, { mine: 'yes' }, { mine: 'no' }],
    ['labels and a field', { labelSelector: 'mine', fieldSelector: 'metadata.name=a' }, { mine: 'yes' }, {}],
    ['a field', { fieldSelector: 'metadata.labels.mine=yes' }, { mine: 'yes' }, { mine: 'no' }],
    ['a field that is removed', { fieldSelector: 'metadata.labels.mine=yes' }, { mine: 'yes' }, {}],
    ['a field that is added', { fieldSelector: 'metadata.labels.theirs!=yes' }, {}, { theirs: 'yes' }],
    ['fields with escaped characters', { fieldSelector: 'metadata.labels.mine=a\\,b' }, { mine: 'a,b' }, {}],
  ])('treats an object that leaves its selection by %s as deleted', async (_what, selectors, into, out) => {
    const seen: string[] = [];
    const { clock, things } = await start({
      ...selectors,
      reconcile: async ({ metadata }) => {
        seen.push(`there with ${JSON.stringify(metadata.labels)}`);
        return { requeueAfterMs: 60_000 };
      },
      deleted: async ({ metadata }) => void seen.push(`gone with ${JSON.stringify(metadata.labels)}`),
    });
    const labelled = (labels: object): Unstructured => thing('a', { metadata: { name: 'a', namespace: 'n', labels } });
    await things.create(labelled(into));
    await clock.advance(60_000);
    const there = `there with ${JSON.stringify(into)}`;
    const gone = `gone with ${JSON.stringify(into)}`;
    expect(seen).toEqual([there, there]);
    await things.update(labelled(out));
    await clock.advance(600_000);
    await things.delete({ namespace: 'n', name: 'a' });
    await clock.advance(600_000);
    expect(seen).toEqual([there, there, gone]);
  });

  test.each([
    ['and never come', true],
    ['and come later', false],
  ])('handles the deletion of an object once when its events were missed, %s', async (_, compacts) => {
    const seen = new Set<string>();
    const gone: unknown[] = [];
    const { clock, client, things } = await start({
      alsoOn: [{ on: Parts, keys: async ({ metadata }) => [{ namespace: 'n', name: metadata.name ?? '' }] }],
      reconcile: async ({ metadata }) => void seen.add(`there ${metadata.uid}`),
      deleted: async ({ metadata }) => {
        gone.push(metadata.uid);
        seen.add(`gone ${metadata.uid}`);
      },
    });
    const parts = client.resource(Parts);
    client.fail = ({ verb, plural }) =>
      plural === 'things' && (verb === 'watch' || verb === 'list') ? new Error('cut') : undefined;
    client.dropWatches(new Error('cut'));
    const { metadata: first } = await things.create(thing('a'));
    await parts.create({ ...thing('a'), kind: 'Part' });
    await clock.advance(10_000);
    expect([...seen]).toEqual([`there ${first.uid}`]);
    await things.delete({ namespace: 'n', name: 'a' });
    const { metadata: second } = await things.create(thing('a'));
    await parts.update({ ...thing('a', { spec: 1 }), kind: 'Part' });
    await settled();
    expect([...seen]).toEqual([`there ${first.uid}`, `gone ${first.uid}`, `there ${second.uid}`]);
    await things.delete({ namespace: 'n', name: 'a' });
    if (compacts) client.compact();
    client.fail = () => undefined;
    await clock.advance(120_000);
    await clock.advance(120_000);
    expect(gone).toEqual([first.uid, second.uid]);
  });

  test('polls an object that was woken before its own first event, and stops once that has arrived', async () => {
    let looks = 0;
    const { clock, client, things } = await start({
      alsoOn: [{ on: Parts, keys: async ({ metadata }) => [{ namespace: 'n', name: metadata.name ?? '' }] }],
      reconcile: async () => void looks++,
      deleted: async () => {},
    });
    client.fail = ({ verb, plural }) =>
      plural === 'things' && (verb === 'watch' || verb === 'list') ? new Error('cut') : undefined;
    client.dropWatches(new Error('cut'));
    await things.create(thing('a'));
    await client.resource(Parts).create({ ...thing('a'), kind: 'Part' });
    await clock.advance(10_000);
    client.fail = () => undefined;
    await clock.advance(120_000);
    const before = looks;
    await clock.advance(600_000);
    expect(looks).toBe(before);
  });

  test('handles objects as deleted when their type is no longer served', async () => {
    const gone: unknown[] = [];
    const { clock, client, reconciles, things } = await start({
      alsoOn: [{ on: Parts, keys: async ({ metadata }) => [{ namespace: 'n', name: metadata.name ?? '' }] }],
      reconcile: async () => {},
      deleted: async ({ metadata }) => void gone.push(metadata.name),
    });
    await things.create(thing('a'));
    await things.create(thing('b'));
    await settled();
    client.fail = ({ verb, plural }) => (plural === 'things' && verb !== 'delete' ? noSuchResource() : undefined);
    await things.delete({ namespace: 'n', name: 'a' });
    await client.resource(Parts).create({ ...thing('never'), kind: 'Part' });
    await clock.advance(60_000);
    expect(gone).toEqual(['a']);
    expect(reconciles().filter(({ level }) => level === 'warn')).toEqual([]);
    // For an object that is still in the cache, no deletion was reported.
    await client.resource(Parts).create({ ...thing('b'), kind: 'Part' });
    await settled();
    expect(reconciles().at(-1)).toMatchObject({ level: 'warn', object: 'n/b', result: 'retry' });
  });

  test('lists an object only to evaluate a field that the object does not show', async () => {
    const { client, things } = await start({ fieldSelector: 'phase!=Over,spec=1', reconcile: async () => {} });
    const lists = (): number => client.calls.filter(({ verb }) => verb === 'list').length;
    const before = lists();
    await things.create(thing('a', { spec: 1, phase: 'New' }));
    await settled();
    expect(lists()).toBe(before);
    await things.create(thing('b', { spec: 1 }));
    await settled();
    expect(lists()).toBe(before + 1);
  });

  test('refuses an invalid selector at once', () => {
    const define = (selectors: object) => () =>
      defineController({ name: 'test', for: Things, reconcile: async () => {}, ...selectors });
    expect(define({ labelSelector: 'a in (' })).toThrow(/unable to parse requirement/);
    expect(define({ fieldSelector: 'nonsense' })).toThrow(/invalid selector/);
    const also = (selectors: object) => define({ alsoOn: [{ on: Parts, keys: async () => [], ...selectors }] });
    expect(also({ labelSelector: 'a in (' })).toThrow(/unable to parse requirement/);
    expect(also({ fieldSelector: 'nonsense' })).toThrow(/invalid selector/);
  });

  test('is woken by a change to another kind, even if mapping it fails at first', async () => {
    let failures = 1;
    const { clock, client, things, reconciles } = await start({
      reconcile: async () => {},
      alsoOn: [
        {
          on: Parts,
          keys: async (part) => {
            if (failures-- > 0) throw new Error('not yet');
            return [{ namespace: 'n', name: String(part['of']) }];
          },
        },
      ],
    });
    await things.create(thing('a'));
    await settled();
    await client.resource(Parts).create({ ...thing('p'), kind: 'Part', of: 'a' });
    await clock.advance(10);
    expect(reconciles().map(({ cause }) => cause)).toEqual(['added', 'Part n/p']);
  });

  test('gets changes with the type of their kind, without annotations', async () => {
    const clock = new FakeClock();
    const client = new FakeClient(clock);
    const seen: string[] = [];
    const stop = new AbortController();
    const controller = defineController({
      name: 'test',
      for: Namespaces,
      alsoOn: [
        { on: RoleBindings, keys: async ({ roleRef }) => [{ name: roleRef.name }] },
        { on: ConfigMaps, keys: async ({ data }) => [{ name: data?.['of'] ?? '' }] },
      ],
      reconcile: async ({ spec }) => void seen.push(spec?.finalizers?.[0] ?? ''),
    });
    const running = createManager({ client, clock }).add(controller).run(stop.signal);
    const [namespace, binding, map] = [Namespaces, RoleBindings, ConfigMaps].map((type) => ({
      apiVersion: groupVersion(type),
      kind: type.kind,
      metadata: { name: 'n' },
    }));
    await client.resource(Namespaces).create({ ...namespace, spec: { finalizers: ['f'] } } as Namespace);
    await settled();
    await client.resource(RoleBindings).create({ ...binding, roleRef: { name: 'n' } } as RoleBinding);
    await settled();
    await client.resource(ConfigMaps).create({ ...map, data: { of: 'n' } } as ConfigMap);
    await settled();
    expect(seen).toEqual(['f', 'f', 'f']);
    stop.abort();
    await running;
  });

  test('logs a mapping that a stop interrupted at debug level', async () => {
    const { client, stop, running, lines, clock } = await start({
      alsoOn: [
        {
          on: Parts,
          keys: async (part, client) => {
            await clock.sleep(1_000);
            await client.resource(Parts).get({ namespace: 'n', name: part.metadata.name ?? '' });
            return [];
          },
        },
      ],
      reconcile: async () => {},
    });
    await client.resource(Parts).create(thing('p'));
    await settled();
    stop.abort();
    await clock.advance(1_000);
    await running;
    expect(lines).toMatchObject([{ level: 'debug', message: 'could not map a change to objects' }]);
  });

  const part = (name: string, of: string): Unstructured => ({ ...thing(name), kind: 'Part', of });
  const ownerOf = (owned: Unstructured) => ({ namespace: 'n', name: String(owned['of']) });

  test('is woken for the former and the present targets of a changed object', async () => {
    const seen: string[] = [];
    const { client, things } = await start({
      alsoOn: [{ on: Parts, keys: async (changed) => [ownerOf(changed)] }],
      reconcile: async ({ metadata }) => void seen.push(metadata.name ?? ''),
    });
    for (const name of ['a', 'b']) await things.create(thing(name));
    await client.resource(Parts).create(part('p', 'a'));
    await settled();
    seen.length = 0;
    await client.resource(Parts).update(part('p', 'b'));
    await settled();
    expect(seen.sort()).toEqual(['a', 'b']);
  });

  test('is woken for the target of each of several quick changes', async () => {
    const seen: string[] = [];
    let answers: Promise<void> | undefined;
    const { client, things } = await start({
      alsoOn: [
        {
          on: Parts,
          keys: async (changed) => {
            await answers;
            return [ownerOf(changed)];
          },
        },
      ],
      reconcile: async ({ metadata }) => void seen.push(metadata.name ?? ''),
    });
    for (const name of ['a', 'b', 'c', 'd']) await things.create(thing(name));
    const parts = client.resource(Parts);
    await parts.create(part('p', 'a'));
    await settled();
    seen.length = 0;
    let answer = (): void => {};
    answers = new Promise((resolve) => {
      answer = resolve;
    });
    await parts.update(part('p', 'b'));
    await settled();
    for (const owner of ['c', 'd']) {
      await parts.delete({ namespace: 'n', name: 'p' });
      await parts.create(part('p', owner));
    }
    await settled();
    answer();
    await settled();
    expect([...new Set(seen)].sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('maps other changes while the mapping of one keeps failing', async () => {
    const asked: string[] = [];
    const { clock, client, things, reconciles } = await start({
      reconcile: async () => {},
      alsoOn: [
        {
          on: Parts,
          keys: async (changed) => {
            asked.push(String(changed['of']));
            if (changed['of'] === 'odd') throw new Error('cannot be told');
            return [ownerOf(changed)];
          },
        },
      ],
    });
    await things.create(thing('a'));
    await client.resource(Parts).create(part('p', 'odd'));
    await settled();
    await client.resource(Parts).update(part('p', 'a'));
    await clock.advance(20_000);
    expect(reconciles().map(({ cause }) => cause)).toEqual(['added', 'Part n/p']);
    expect(asked.filter((of) => of === 'a').length).toBe(1);
    expect(asked.filter((of) => of === 'odd').length).toBeGreaterThan(5);
  });

  test('gives up a mapping that fails with a terminal error', async () => {
    let asked = 0;
    const { clock, client, lines } = await start({
      reconcile: async () => {},
      alsoOn: [
        {
          on: Parts,
          keys: async () => {
            asked++;
            throw new TerminalError('never');
          },
        },
      ],
    });
    await client.resource(Parts).create(part('p', 'a'));
    await clock.advance(60_000);
    expect(asked).toBe(1);
    expect(lines).toMatchObject([{ level: 'error', message: 'gave up mapping a change to objects', object: 'n/p' }]);
  });

  test('reconciles all objects when mapping keeps failing, and forgets the waiting changes', async () => {
    let asked = 0;
    const seen: string[] = [];
    const { clock, client, things } = await start({
      reconcile: async ({ metadata }) => void seen.push(metadata.name ?? ''),
      alsoOn: [
        {
          on: Parts,
          keys: async () => {
            asked++;
            throw new Error('not allowed');
          },
        },
      ],
    });
    for (const name of ['a', 'b']) await things.create(thing(name));
    await settled();
    seen.length = 0;
    const parts = client.resource(Parts);
    let made = 0;
    while (seen.length === 0 && made < 1_000) {
      await parts.create(part(`p${made}`, 'a'));
      await parts.delete({ namespace: 'n', name: `p${made++}` });
      await settled();
    }
    expect(made).toBeGreaterThan(100);
    expect(seen).toEqual(['a', 'b']);
    asked = 0;
    await clock.advance(60_000);
    expect(asked).toBe(0);
  });

  test('reconciles all objects when changes come faster than they can be mapped, and bounds the backlog', async () => {
    const asked: unknown[] = [];
    const seen: string[] = [];
    let answer = (): void => {};
    const answers = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { client, things, lines } = await start({
      reconcile: async ({ metadata }) => void seen.push(metadata.name ?? ''),
      alsoOn: [
        {
          on: Parts,
          keys: async (changed) => {
            asked.push(changed['at']);
            await answers;
            return [ownerOf(changed)];
          },
        },
      ],
    });
    for (const name of ['a', 'b']) await things.create(thing(name));
    const parts = client.resource(Parts);
    for (let at = 0; at < 20; at++) await parts.create(part(`p${at}`, 'b'));
    await parts.create(part('p', 'a'));
    await settled();
    seen.length = 0;
    for (let at = 0; at < 400; at++) await parts.update({ ...part('p', at === 200 ? 'a' : 'b'), at });
    expect(seen).toEqual([]);
    for (let at = 400; at < 600; at++) await parts.update({ ...part('p', 'b'), at });
    await settled();
    expect(seen).toEqual(['a', 'b']);
    answer();
    await settled();
    expect(asked.at(-1)).toBe(599);
    expect(asked.length).toBeLessThan(200);
    const told = lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(told).toEqual(['too many changes to map: all objects are reconciled']);
  });

  test('maps every waiting change after a temporary failure, however many there are', async () => {
    const asked = new Set<string>();
    let fails = 1;
    const { clock, client, lines } = await start({
      reconcile: async () => {},
      alsoOn: [
        {
          on: Parts,
          keys: async ({ metadata }) => {
            if (fails-- > 0) throw new Error('not now');
            asked.add(metadata.name ?? '');
            return [];
          },
        },
      ],
    });
    const parts = client.resource(Parts);
    for (let at = 0; at < 600; at++) void parts.create(part(`p${at}`, 'a'));
    await clock.advance(1_000);
    expect(asked.size).toBe(600);
    expect(lines.map(({ message }) => message)).toEqual(['could not map a change to objects']);
  });

  test.each(['', '.', 'a/b', 'a%b', 'x'.repeat(10_000)])(
    'takes an invalid key (%j) as one without an object',
    async (name) => {
      const { clock, client, reconciles } = await start({
        alsoOn: [
          {
            on: Parts,
            keys: async () => [
              { namespace: 'n', name },
              { namespace: name || '..', name: 'a' },
            ],
          },
        ],
        reconcile: async () => {},
      });
      client.fail = ({ verb }) => (verb === 'get' ? new Error('asked for all the same') : undefined);
      await client.resource(Parts).create(part('p', 'a'));
      await clock.advance(1_000);
      expect(reconciles().map(({ message }) => message)).toEqual(['reconciled', 'reconciled']);
    },
  );

  test.each([
    [Things, { name: 'a' }, 'the key a lacks the namespace that every Thing has'],
    [
      { ...Things, namespaced: false },
      { namespace: 'n', name: 'a' },
      'the key n/a has a namespace, which no Thing has',
    ],
  ])('reports a key of the wrong scope as an error, and handles the other keys', async (type, wrong, message) => {
    const right = { ...wrong, namespace: type.namespaced ? 'n' : undefined, name: 'b' };
    const { clock, client, lines, reconciles } = await start({
      for: type,
      alsoOn: [{ on: Parts, keys: async () => [wrong, right] }],
      reconcile: async () => {},
    });
    await client.resource(Parts).create(part('p', 'a'));
    await settled();
    await clock.advance(60_000);
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'gave up mapping a change to objects', object: 'n/p', err: { message } },
    ]);
    expect(reconciles()).toMatchObject([{ object: keyText(right), result: 'done' }]);
  });

  test('works in its namespace only', async () => {
    const seen: string[] = [];
    const { client, things } = await start({
      namespace: 'n',
      alsoOn: [
        { on: Parts, namespace: 'n', keys: async () => ['n', 'm'].map((namespace) => ({ namespace, name: 'a' })) },
      ],
      reconcile: async ({ metadata }) => void seen.push(`${metadata.namespace}/${metadata.name}`),
    });
    const elsewhere = { name: 'a', namespace: 'm' };
    await things.create({ ...thing('a'), metadata: elsewhere });
    await things.create(thing('a'));
    await client.resource(Parts).create({ ...part('p', 'a'), metadata: elsewhere });
    await settled();
    expect(seen).toEqual(['n/a']);
    await client.resource(Parts).create(part('p', 'a'));
    await settled();
    expect(seen).toEqual(['n/a', 'n/a']);
  });

  test('maps each of many simultaneous deletions when mapping is quick', async () => {
    const asked: string[] = [];
    const keys = async ({ metadata }: Unstructured): Promise<readonly ObjectKey[]> => {
      asked.push(metadata.name ?? '');
      return [];
    };
    const { client, lines } = await start({
      reconcile: async () => {},
      alsoOn: [{ on: Parts, keys }],
    });
    const parts = client.resource(Parts);
    for (let at = 0; at < 1_200; at++) await parts.create(part(`p${at}`, 'a'));
    await settled();
    asked.length = 0;
    await Promise.all(Array.from({ length: 1_200 }, (_, at) => parts.delete({ namespace: 'n', name: `p${at}` })));
    await settled();
    expect(new Set(asked).size).toBe(1_200);
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test.each([
    [{ concurrency: Number.NaN }, 'concurrency must be an integer of at least 1, not NaN'],
    [{ concurrency: 0 }, 'concurrency must be an integer of at least 1, not 0'],
    [{ concurrency: 1.5 }, 'concurrency must be an integer of at least 1, not 1.5'],
    [{ backoff: { baseMs: Number.NaN, capMs: 1 } }, 'backoff.baseMs must be a number greater than 0, not NaN'],
    [
      { backoff: { baseMs: 1, capMs: Number.POSITIVE_INFINITY } },
      'backoff.capMs must be a number greater than 0, not Infinity',
    ],
    [{ rateLimit: { perSecond: 0, burst: 1 } }, 'rateLimit.perSecond must be a number greater than 0, not 0'],
    // Options of programs without types.
    [{ rateLimit: { perSecond: 5 } as RateLimit }, 'rateLimit.burst must be a number greater than 0, not undefined'],
  ])('refuses invalid numbers at once: %j', (more, message) => {
    const spec = { name: 'c', for: Things, reconcile: async () => {}, ...more };
    expect(() => defineController<Unstructured>(spec)).toThrow(`controller c: ${message}`);
  });

  test('never gives one object to two workers, and uses as many workers as allowed', async () => {
    let busy = 0;
    let most = 0;
    const open = new Set<string>();
    const { clock, things } = await start({
      concurrency: 3,
      reconcile: async ({ metadata }, context) => {
        const name = metadata.name ?? '';
        if (open.has(name)) throw new Error('twice at once');
        open.add(name);
        most = Math.max(most, ++busy);
        await context.clock.sleep(10);
        busy--;
        open.delete(name);
      },
    });
    for (const name of ['a', 'b', 'c', 'd']) await things.create(thing(name));
    await settled();
    for (const name of ['a', 'b', 'c', 'd']) await things.update(thing(name, { spec: 1 }));
    await clock.advance(100);
    expect(most).toBe(3);
    expect(busy).toBe(0);
  });

  test('finishes the current reconcile before it stops', async () => {
    let finished = false;
    const { clock, things, stop, running } = await start({
      reconcile: async (_, context) => {
        await context.clock.sleep(1_000);
        finished = true;
      },
    });
    await things.create(thing('a'));
    await settled();
    stop.abort();
    await clock.advance(1_000);
    await running;
    expect(finished).toBe(true);
  });
});

describe('a manager', () => {
  const context = () => {
    const clock = new FakeClock();
    return { clock, client: new FakeClient(clock) };
  };
  const untilAborted = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

  test('runs only once, and takes no more runnables after that', async () => {
    const stop = new AbortController();
    const work = { name: 'work', run: ({ signal }: ReconcileContext) => untilAborted(signal) };
    const manager = createManager(context()).add(work);
    const running = manager.run(stop.signal);
    await expect(manager.run(stop.signal)).rejects.toThrow('a manager can run only once');
    expect(() => manager.add({ ...work, name: 'more' })).toThrow('runnables cannot be added once the manager runs');
    stop.abort();
    await running;
  });

  test('stops everything when one runnable fails, and fails with its error', async () => {
    let stopped = false;
    const manager = createManager(context()).add(
      {
        name: 'well',
        run: async ({ signal }) => {
          await untilAborted(signal);
          stopped = true;
        },
      },
      {
        name: 'ill',
        run: async () => {
          throw new Error('broken');
        },
      },
    );
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('broken');
    expect(stopped).toBe(true);
  });

  test('stops waiting for a stuck runnable, and fails with its name', async () => {
    const { clock, client } = context();
    const stop = new AbortController();
    const running = createManager({ clock, client, graceMs: 500 })
      .add({ name: 'stuck', run: () => new Promise<void>(() => {}) })
      .run(stop.signal);
    const failure = running.catch((error: unknown) => error);
    stop.abort();
    await clock.advance(500);
    expect(await failure).toBeInstanceOf(RunnablesLeftBehind);
    expect(await failure).toMatchObject({ message: 'stuck did not stop within 500 ms' });
  });

  test('reports a stuck runnable even if another of its name has stopped', async () => {
    const { clock, client } = context();
    const stop = new AbortController();
    const running = createManager({ clock, client, graceMs: 500 })
      .add({ name: 'leader', run: () => new Promise<void>(() => {}) })
      .add({ name: 'leader', run: async () => {} })
      .run(stop.signal);
    const failure = running.catch((error: unknown) => error);
    stop.abort();
    await clock.advance(500);
    expect(await failure).toMatchObject({ message: 'leader did not stop within 500 ms' });
  });

  test('fails when a nested manager left a runnable behind', async () => {
    const { clock, client } = context();
    const stop = new AbortController();
    const stuck: Runnable = { name: 'stuck', run: () => new Promise<void>(() => {}) };
    const inner = createManager({ clock, client, graceMs: 500 }).add(stuck);
    const running = createManager({ clock, client, graceMs: 1_000 })
      .add({ name: 'inner', run: ({ signal }) => inner.run(signal) })
      .run(stop.signal);
    const failure = running.catch((error: unknown) => error);
    stop.abort();
    await clock.advance(1_000);
    expect(await failure).toBeInstanceOf(RunnablesLeftBehind);
  });

  test('gives each runnable its own client when asked to', async () => {
    const { clock, client } = context();
    const asked: string[] = [];
    const clientOf = (name: string): FakeClient => {
      asked.push(name);
      return client;
    };
    const nothing = async (): Promise<void> => {};
    await createManager({ clock, client: clientOf })
      .add({ name: 'a', run: nothing }, { name: 'b', run: nothing })
      .run(new AbortController().signal);
    expect(asked).toEqual(['a', 'b']);
  });

  test.each<[string, (things: ResourceClient<Unstructured>, client: Client) => Promise<unknown>]>([
    ['discover', (_, client) => client.discover()],
    ['get', (things) => things.get({ namespace: 'n', name: 'a' })],
    ['list', (things) => things.list()],
    ['watch', (things) => firstValueFrom(things.watch())],
    ['create', (things) => things.create(thing('b'))],
    ['update', (things) => things.update(thing('a', { spec: 1 }))],
    ['patch', (things) => things.patch({ namespace: 'n', name: 'a' }, { type: 'merge', body: {} })],
    ['delete', (things) => things.delete({ namespace: 'n', name: 'a' })],
    ['deleteCollection', (things) => things.deleteCollection()],
    ['status: get', (things) => things.subresource('status').get({ namespace: 'n', name: 'a' })],
    ['status: create', (things) => things.subresource('status').create({ namespace: 'n', name: 'a' }, thing('a'))],
    ['status: update', (things) => things.subresource('status').update(thing('a'))],
    [
      'status: patch',
      (things) => things.subresource('status').patch({ namespace: 'n', name: 'a' }, { type: 'merge', body: {} }),
    ],
  ])('gives a client that sends nothing once runnables are to stop: %s', async (_, call) => {
    const { clock, client } = context();
    await client.resource(Things).create(thing('a'));
    const stop = new AbortController();
    let before = 0;
    let failure: unknown;
    const late: Runnable = {
      name: 'late',
      run: async (given) => {
        const things = given.client.resource(Things);
        expect(await things.get({ namespace: 'n', name: 'a' })).toMatchObject({ metadata: { name: 'a' } });
        stop.abort();
        before = client.calls.length;
        failure = await call(things, given.client).catch((error: unknown) => error);
      },
    };
    await createManager({ clock, client }).add(late).run(stop.signal);
    expect(failure).toMatchObject({ name: 'AbortError' });
    expect(client.calls.length).toBe(before);
  });

  test.each<[string, (...runnables: readonly Runnable[]) => unknown]>([
    ['a manager', (...two) => createManager(context()).add(...two)],
    [
      'a manager that gets them one by one',
      (a, b) =>
        createManager(context())
          .add(a as Runnable)
          .add(b as Runnable),
    ],
    ['a leader', (...two) => whileLeading({ lease: { namespace: 'n', name: 'l' } }, ...two)],
  ])('refuses two controllers of the same name: %s', (_what, add) => {
    const controller = (name: string): Runnable => defineController({ name, for: Things, reconcile: async () => {} });
    expect(() => add(controller('twin'), controller('twin'))).toThrow('duplicate controller name twin');
    add(controller('one'), controller('other'));
    // These are distinguished by other log fields, as those of several signers are.
    const wrapped = (): Runnable => ({ name: 'one', run: (given) => controller('one').run(given) });
    add(wrapped(), wrapped());
  });

  test('logs with the name of the runnable or controller, inside a leader too', async () => {
    const lines: Line[] = [];
    const stop = new AbortController();
    const says = (name: string): Runnable => ({
      name,
      run: async ({ log }) => {
        log.info({}, 'said');
        log.child({ more: 1 }).info({}, 'said');
      },
    });
    const controller = (name: string): Runnable =>
      defineKeyedController<string>(name, ({ log }) => ({
        identity: (key) => key,
        start: () => log.info({}, 'said'),
        reconcile: async () => {},
      }));
    const leader = whileLeading({ lease: { namespace: 'n', name: 'l' } }, says('c'), controller('d'));
    const running = createManager({ ...context(), log: recorder(lines) })
      .add(says('a'), controller('b'), leader)
      .run(stop.signal);
    await settled();
    stop.abort();
    await running;
    expect(lines.filter(({ message }) => message === 'said')).toEqual([
      { level: 'info', message: 'said', runnable: 'a' },
      { level: 'info', message: 'said', runnable: 'a', more: 1 },
      { level: 'info', message: 'said', controller: 'b' },
      { level: 'info', message: 'said', runnable: 'c' },
      { level: 'info', message: 'said', runnable: 'c', more: 1 },
      { level: 'info', message: 'said', controller: 'd' },
    ]);
  });

  test('waits for the signal when it has nothing to run, and logs that', async () => {
    const stop = new AbortController();
    const lines: Line[] = [];
    let ended = false;
    const running = createManager({ ...context(), log: recorder(lines) })
      .run(stop.signal)
      .then(() => {
        ended = true;
      });
    await settled();
    expect(ended).toBe(false);
    expect(lines).toMatchObject([{ message: 'no runnables' }]);
    stop.abort();
    await running;
  });

  test('respects a signal that was aborted before the start', async () => {
    await createManager(context())
      .add({ name: 'a', run: async ({ signal }) => expect(signal.aborted).toBe(true) })
      .run(AbortSignal.abort());
  });
});

describe('a finalizer', () => {
  test('is added before the first apply and removed after cleaning up', async () => {
    const story: string[] = [];
    const { things } = await start({
      reconcile: withFinalizer({
        type: Things,
        name: 'example.com/held',
        apply: async ({ metadata }) => {
          story.push(`apply with ${metadata.finalizers?.join()}`);
        },
        cleanUp: async () => {
          story.push('clean up');
        },
      }),
    });
    await things.create(thing('a'));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await settled();
    expect(story.at(0)).toBe('apply with example.com/held');
    expect(story.at(-1)).toBe('clean up');
    expect(await things.get({ namespace: 'n', name: 'a' })).toBeUndefined();
  });

  test('of another owner keeps the object, without an apply or a clean-up', async () => {
    const story: string[] = [];
    const client = new FakeClient(new FakeClock());
    const reconcile = withFinalizer({
      type: Things,
      name: 'example.com/held',
      apply: async () => void story.push('apply'),
      cleanUp: async () => void story.push('clean up'),
    });
    const { metadata, ...rest } = thing('a');
    const going = {
      ...rest,
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/other'] },
    };
    await reconcile(going, { client } as unknown as ReconcileContext);
    expect([story, client.writes]).toEqual([[], []]);
  });

  test('stays until cleaning up is finished', async () => {
    let rounds = 2;
    const { clock, things } = await start({
      reconcile: withFinalizer({
        type: Things,
        name: 'example.com/held',
        apply: async () => {},
        cleanUp: async () => (--rounds > 0 ? { requeueAfterMs: 1_000 } : undefined),
      }),
    });
    await things.create(thing('a'));
    await settled();
    await things.delete({ namespace: 'n', name: 'a' });
    await settled();
    expect(await things.get({ namespace: 'n', name: 'a' })).toBeDefined();
    await clock.advance(1_000);
    expect(await things.get({ namespace: 'n', name: 'a' })).toBeUndefined();
  });
});

test('statuses and finalizers are written with the given field manager', async () => {
  const client = new FakeClient(new FakeClock());
  const managers: unknown[] = [];
  const told =
    <A extends readonly unknown[], R>(write: (...given: A) => R) =>
    (...given: A): R => {
      managers.push(given.at(-1));
      return write(...given);
    };
  const things = client.resource(Things);
  const status = things.subresource('status');
  const recorded = {
    ...things,
    patch: told(things.patch),
    subresource: () => ({ ...status, update: told(status.update) }),
  } as typeof things;
  const recording = { resource: () => recorded } as unknown as Client;
  const options = { fieldManager: 'teams' };
  const created = await things.create(thing('a'));
  const written = await writeStatus(recorded, created, { phase: 'Ready' }, options);
  const held = await addFinalizer(recording, Things, written, 'example.com/held', options);
  await removeFinalizer(recording, Things, held, 'example.com/held', options);
  const reconcile = withFinalizer({
    type: Things,
    name: 'example.com/held',
    options,
    apply: async () => {},
    cleanUp: async () => {},
  });
  await reconcile((await things.get({ namespace: 'n', name: 'a' })) ?? created, {
    client: recording,
  } as ReconcileContext);
  await things.delete({ namespace: 'n', name: 'a' });
  await reconcile((await things.get({ namespace: 'n', name: 'a' })) ?? created, {
    client: recording,
  } as ReconcileContext);
  expect(managers).toEqual(Array(5).fill(options));
});

test('a status is written only when it differs', async () => {
  const client = new FakeClient(new FakeClock());
  const things = client.resource(Things);
  const created = await things.create(thing('a'));
  const written = await writeStatus(things, created, { phase: 'Ready' });
  await writeStatus(things, written, { phase: 'Ready' });
  await writeStatus(things, written, { phase: 'Ready', message: undefined });
  const counted = await writeStatus(things, written, { bytes: 2n ** 60n, small: 1 });
  await writeStatus(things, counted, { bytes: 2n ** 60n, small: 1 });
  expect(client.writes).toEqual(['create things n/a', ...Array(2).fill('update things/status n/a')]);
  await expect(writeStatus(things, created, { phase: 'Other' })).rejects.toMatchObject({ reason: 'Conflict' });
});
