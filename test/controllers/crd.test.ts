import { Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { crdEstablished, established } from '../../controllers/crd-established/crd-established.js';
import { crdFinalizer } from '../../controllers/crd-finalizer/crd-finalizer.js';
import type { CustomResourceInstances } from '../../controllers/crd-finalizer/instances.js';
import { withApiApproval } from '../../controllers/crd-names/api-approval.js';
import { crdNames } from '../../controllers/crd-names/crd-names.js';
import { decideNames } from '../../controllers/crd-names/names.js';
import { hasCondition } from '../../src/api/conditions.js';
import { staleWrite } from '../../src/api/errors.js';
import {
  type CustomResourceDefinition,
  type CustomResourceDefinitionNames,
  CustomResourceDefinitions,
  customResourceCleanupFinalizer,
} from '../../src/api/kinds/custom-resource-definition.js';
import { type ApiObject, resourceType } from '../../src/api/object.js';
import { settled } from '../../src/testing/fake-clock.js';
import { testServer } from '../../src/testing/test-server.js';
import { until } from '../../src/testing/until.js';
import type { FakeClient } from '../fake-client.js';
import { runControllers } from './run-controllers.js';

const now = '2026-01-01T00:00:00Z';
function crd(
  plural: string,
  names: Partial<CustomResourceDefinitionNames> = {},
  more: object = {},
): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com`, uid: `uid-${plural}` },
    spec: {
      group: 'example.com',
      names: { plural, singular: plural.slice(0, -1), kind: 'Kind', listKind: 'KindList', ...names },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true }],
    },
    ...more,
  };
}
const summary = ({ conditions }: NonNullable<CustomResourceDefinition['status']>): readonly string[] =>
  (conditions ?? []).map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);

describe('names', () => {
  test('free names are accepted, and the definition waits to be established', () => {
    const wanted = crd('widgets', { shortNames: ['w'], categories: ['all'] });
    const status = decideNames(wanted, [], now);
    expect(status.acceptedNames).toEqual(wanted.spec.names);
    expect(summary(status)).toEqual([
      'NamesAccepted True NoConflicts: no conflicts found',
      'Established False Installing: the initial names have been accepted',
    ]);
    expect(decideNames({ ...wanted, status }, [], now)).toBe(status);
  });

  const holder = (names: Partial<CustomResourceDefinitionNames>): CustomResourceDefinition => ({
    ...crd('holders'),
    status: { acceptedNames: { plural: 'holders', kind: 'Holder', listKind: 'HolderList', ...names } },
  });

  test.each<[string, Partial<CustomResourceDefinitionNames>, string]>([
    ['plural as a short name', { shortNames: ['widgets'] }, 'PluralConflict: "widgets" is already in use'],
    ['singular as a plural', { plural: 'widget' }, 'SingularConflict: "widget" is already in use'],
    ['a short name', { shortNames: ['w'] }, 'ShortNamesConflict: "w" is already in use'],
    [
      'two short names',
      { shortNames: ['w', 'x'] },
      'ShortNamesConflict: ["w" is already in use, "x" is already in use]',
    ],
    ['kind', { kind: 'Kind' }, 'KindConflict: "Kind" is already in use'],
    ['list kind as a kind', { kind: 'KindList' }, 'ListKindConflict: "KindList" is already in use'],
    [
      'several: the last conflict is reported',
      { plural: 'widgets', kind: 'Kind' },
      'KindConflict: "Kind" is already in use',
    ],
  ])('a name is taken by another definition: %s', (_, names, problem) => {
    const status = decideNames(crd('widgets', { shortNames: ['w', 'x'] }), [holder(names)], now);
    expect(summary(status)).toEqual([
      `NamesAccepted False ${problem}`,
      'Established False NotAccepted: not all names are accepted',
    ]);
  });

  test('kinds and resource names are separate namespaces', () => {
    const status = decideNames(crd('widgets', { kind: 'Holders' }), [holder({ singular: 'Kind' })], now);
    expect(status.conditions?.[0]?.status).toBe('True');
  });

  test('a definition that has a name accepted cannot use it twice', () => {
    const status = decideNames(crd('widgets', { shortNames: ['widgets'] }), [], now);
    expect(status.conditions?.[0]?.status).toBe('True');
    const accepted = decideNames(crd('widgets'), [], now);
    const again = { ...crd('widgets', { shortNames: ['w', 'widgets'] }), status: accepted };
    expect(summary(decideNames(again, [], now))[0]).toBe(
      'NamesAccepted False ShortNamesConflict: "widgets" is already in use',
    );
  });

  test('a conflicting name keeps its previous value, and an established definition stays established', () => {
    const before = crd('widgets', { shortNames: ['old'] });
    const accepted = decideNames(before, [], now);
    const conditions = (accepted.conditions ?? []).map((one) =>
      one.type === 'Established' ? { ...one, status: 'True' as const, reason: 'InitialNamesAccepted' } : one,
    );
    const renamed = {
      ...crd('widgets', { kind: 'Taken', shortNames: ['new'], categories: ['c'] }),
      status: { ...accepted, conditions },
    };
    const status = decideNames(renamed, [holder({ kind: 'Taken' })], now);
    expect(status.acceptedNames).toMatchObject({ kind: 'Kind', shortNames: ['new'], categories: ['c'] });
    expect(summary(status).map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'NamesAccepted False KindConflict:',
      'Established True InitialNamesAccepted:',
    ]);
  });
});

describe('approval of protected groups', () => {
  const said = (group: string, annotation?: string): readonly string[] => {
    const object = crd('widgets');
    return summary(
      withApiApproval(
        {
          ...object,
          metadata: {
            ...object.metadata,
            annotations: annotation === undefined ? {} : { 'api-approved.kubernetes.io': annotation },
          },
          spec: { ...object.spec, group },
        },
        {},
        now,
      ),
    );
  };
  test.each([
    ['example.com', undefined, []],
    ['foo.k8s.io', 'https://example.com/1', ['True ApprovedAnnotation: approved in https://example.com/1']],
    ['foo.k8s.io', 'https://example.com:99999', ['True ApprovedAnnotation: approved in https://example.com:99999']],
    ['foo.k8s.io', 'https:/example.com', [expect.stringMatching(/^False InvalidAnnotation: /)]],
    ['foo.kubernetes.io', 'unapproved, a test', ['False UnapprovedAnnotation: not approved: "unapproved, a test"']],
    ['k8s.io', 'nonsense', [expect.stringMatching(/^False InvalidAnnotation: /)]],
    ['foo.k8s.io', undefined, [expect.stringMatching(/^False MissingAnnotation: /)]],
  ])('%s with %s', (group, annotation, expected) => {
    expect(said(group, annotation).map((line) => line.split(' ').slice(1).join(' '))).toEqual(expected);
  });
});

test('an unreadable CA bundle of a conversion webhook prevents a definition from being established', () => {
  const object = crd('widgets');
  const withBundle = (caBundle: string): CustomResourceDefinition => ({
    ...object,
    spec: {
      ...object.spec,
      conversion: { strategy: 'Webhook', webhook: { clientConfig: { caBundle }, conversionReviewVersions: ['v1'] } },
    },
  });
  expect(established(object).reason).toBe('InitialNamesAccepted');
  expect(established(withBundle(Buffer.from('junk').toString('base64'))).reason).toBe('InvalidCABundle');
});

describe('the controllers', () => {
  test('a new definition is established, and one with conflicting names once they are free', async () => {
    const { client, complaints, clock } = await runControllers([crdNames(), crdEstablished()]);
    const crds = client.resource(CustomResourceDefinitions);
    await crds.create(crd('widgets'));
    await crds.create(crd('gadgets'));
    await clock.advance(100);
    const conditions = async (plural: string) =>
      summary((await crds.get({ name: `${plural}.example.com` }))?.status ?? {});
    expect(await conditions('widgets')).toEqual([
      'NamesAccepted True NoConflicts: no conflicts found',
      'Established True InitialNamesAccepted: the initial names have been accepted',
    ]);
    expect((await conditions('gadgets'))[0]).toBe('NamesAccepted False ListKindConflict: "KindList" is already in use');
    await crds.delete({ name: 'widgets.example.com' });
    await clock.advance(100);
    expect((await conditions('gadgets'))[1]).toMatch(/^Established True/);
    expect(complaints).toEqual([]);
  });

  test.each([
    [false, []],
    [true, ['NonStructuralSchema']],
  ])(
    'the condition NonStructuralSchema of an old definition is kept only if it can be true: %s',
    async (preserveUnknownFields, kept) => {
      const { client, clock } = await runControllers([crdNames(), crdEstablished()]);
      const crds = client.resource(CustomResourceDefinitions);
      const conditions = [{ type: 'NonStructuralSchema', status: 'True' as const }];
      const { spec, ...old } = crd('widgets', {}, { status: { conditions } });
      await crds.create({ ...old, spec: { ...spec, preserveUnknownFields } });
      await clock.advance(100);
      const status = (await crds.get({ name: 'widgets.example.com' }))?.status;
      expect(status?.conditions?.map(({ type }) => type)).toEqual([...kept, 'NamesAccepted', 'Established']);
    },
  );

  test('exactly one of many definitions gets the kind they all want', async () => {
    const { client, clock } = await runControllers([crdNames()]);
    const crds = client.resource(CustomResourceDefinitions);
    for (const letter of 'abcdefgh') await crds.create(crd(`${letter}s`));
    await clock.advance(1_000);
    const { items } = await crds.list();
    expect(items.filter(({ status }) => status?.acceptedNames?.kind === 'Kind').length).toBe(1);
  });

  /** The connection of the first cache of definitions, which reconnects by itself unless it stays interrupted. */
  function connection(client: FakeClient) {
    const reset = (): Error => new Error('read ECONNRESET');
    const resource = client.resource.bind(client);
    let isCut = false;
    let end = (): void => {};
    let first: object | undefined;
    client.resource = (type) => {
      const real = resource(type);
      if (type.plural !== CustomResourceDefinitions.plural) return real;
      const one: typeof real = {
        ...real,
        watch(options) {
          first ??= one;
          if (first !== one) return real.watch(options);
          return new Observable((subscriber) => {
            if (isCut) return subscriber.error(reset());
            end = () => subscriber.error(reset());
            return real.watch(options).subscribe(subscriber);
          });
        },
      };
      return one;
    };
    return {
      cut(): void {
        isCut = true;
        end();
      },
      mend(): void {
        isCut = false;
      },
    };
  }
  const withConnection = async () => {
    let watched = { cut: (): void => {}, mend: (): void => {} };
    const world = await runControllers([crdNames()], (client) => {
      watched = connection(client);
    });
    const crds = world.client.resource(CustomResourceDefinitions);
    const accepted = async (): Promise<readonly string[]> =>
      (await crds.list()).items
        .filter(({ status }) => status?.acceptedNames?.kind === 'Kind')
        .map(({ metadata }) => metadata.uid ?? '');
    return { ...world, ...watched, crds, accepted };
  };

  test('a name is given once, even if events of definitions arrive late', async () => {
    const { clock, crds, accepted, cut, mend } = await withConnection();
    cut();
    await crds.create(crd('as'));
    await settled();
    await crds.create(crd('bs'));
    await settled();
    mend();
    await clock.advance(60_000);
    expect(await accepted()).toEqual(['uid-as']);
  });

  test('each group has its own names', async () => {
    const { crds, accepted } = await withConnection();
    await crds.create(crd('as'));
    const { spec } = crd('bs');
    const metadata = { name: 'bs.example.org', uid: 'uid-bs' };
    await crds.create(crd('bs', {}, { metadata, spec: { ...spec, group: 'example.org' } }));
    await settled();
    expect(await accepted()).toEqual(['uid-as', 'uid-bs']);
  });

  test('a conflicting definition gets names that became free while events were missing', async () => {
    const { clock, crds, accepted, cut, mend } = await withConnection();
    await crds.create(crd('as'));
    await settled();
    await crds.create(crd('bs'));
    await settled();
    expect(await accepted()).toEqual(['uid-as']);
    cut();
    await settled();
    await crds.delete({ name: 'as.example.com' });
    await settled();
    mend();
    await clock.advance(60_000);
    expect(await accepted()).toEqual(['uid-bs']);
  });

  test('a recreated definition gets its names once its event arrives', async () => {
    const { client, clock, crds, accepted, cut, mend } = await withConnection();
    client.fail = ({ subresource }) => (subresource === undefined ? undefined : new Error('not yet'));
    await crds.create(crd('as'));
    await settled();
    cut();
    client.fail = () => undefined;
    await crds.delete({ name: 'as.example.com' });
    await crds.create(crd('as', {}, { metadata: { name: 'as.example.com', uid: 'uid-anew' } }));
    await clock.advance(700);
    expect(await accepted()).toEqual([]);
    mend();
    await clock.advance(60_000);
    expect(await accepted()).toEqual(['uid-anew']);
  });

  const Widgets = resourceType<ApiObject>({
    group: 'example.com',
    version: 'v1',
    plural: 'widgets',
    kind: 'Kind',
    namespaced: true,
  });
  const widget = (namespace: string, name: string, finalizers?: readonly string[]): ApiObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Kind',
    metadata: { name, namespace, ...(finalizers ? { finalizers } : {}) },
  });
  const terminating = (isEstablished: boolean, finalizers: readonly string[] = [customResourceCleanupFinalizer]) =>
    ({
      ...crd('widgets'),
      metadata: { ...crd('widgets').metadata, finalizers },
      status: {
        conditions: [
          { type: 'Established', status: isEstablished ? 'True' : 'False' },
          { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' },
        ],
      },
    }) as CustomResourceDefinition;

  test('a definition is removed after its instances', async () => {
    const { client, clock } = await runControllers([crdFinalizer()], async (api) => {
      await api.resource(Widgets).create(widget('n', 'a'));
      await api.resource(Widgets).create(widget('m', 'held', ['example.com/hold']));
      await api.resource(CustomResourceDefinitions).create(terminating(true));
      await api.resource(CustomResourceDefinitions).delete({ name: 'widgets.example.com' });
    });
    const crds = client.resource(CustomResourceDefinitions);
    await clock.advance(1_000);
    expect(summary((await crds.get({ name: 'widgets.example.com' }))?.status ?? {})[1]).toBe(
      'Terminating True InstanceDeletionInProgress: CustomResource deletion is in progress',
    );
    expect((await client.resource(Widgets).list()).items.map(({ metadata }) => metadata.name)).toEqual(['held']);
    await clock.advance(70_000);
    expect(summary((await crds.get({ name: 'widgets.example.com' }))?.status ?? {})[1]).toMatch(
      /InstanceDeletionCheck/,
    );
    await client
      .resource(Widgets)
      .patch({ namespace: 'm', name: 'held' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await clock.advance(5_000);
    expect(await crds.get({ name: 'widgets.example.com' })).toBeUndefined();
  });

  test('a definition that was never established and has no instances is removed at once', async () => {
    const { client } = await runControllers([crdFinalizer()], async (api) => {
      await api
        .resource(CustomResourceDefinitions)
        .create(terminating(false, [customResourceCleanupFinalizer, 'example.com/hold']));
      await api.resource(CustomResourceDefinitions).delete({ name: 'widgets.example.com' });
    });
    await settled();
    const left = await client.resource(CustomResourceDefinitions).get({ name: 'widgets.example.com' });
    expect(left?.metadata.finalizers).toEqual(['example.com/hold']);
    expect(summary(left?.status ?? {})[1]).toBe('Terminating False NeverEstablished: resource was never established');
  });

  test("a conflicting write does not keep the definition's finalizer", async () => {
    let races = 1;
    const { client, clock } = await runControllers([crdFinalizer()], async (api) => {
      const { status, ...left } = terminating(false);
      const conditions = (status?.conditions ?? []).map((one) => ({ ...one, reason: 'InstanceDeletionInProgress' }));
      await api.resource(CustomResourceDefinitions).create({ ...left, status: { ...status, conditions } });
      api.fail = ({ verb, subresource }) =>
        verb === 'update' && subresource === 'status' && races-- > 0
          ? staleWrite({ ...CustomResourceDefinitions, name: 'widgets.example.com' })
          : undefined;
      await api.resource(CustomResourceDefinitions).delete({ name: 'widgets.example.com' });
    });
    await clock.advance(1_000);
    expect(await client.resource(CustomResourceDefinitions).get({ name: 'widgets.example.com' })).toBeUndefined();
  });

  test('instances created before a definition was established are deleted with it', async () => {
    await using server = await testServer({ controllers: ['crd-names', 'crd-finalizer'] });
    const crds = server.client.resource(CustomResourceDefinitions);
    const schema = { openAPIV3Schema: { type: 'object' } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const { spec } = crd('widgets');
    const name = { name: 'widgets.example.com' };
    const define = async (scope: string): Promise<void> => {
      await crds.create({ ...crd('widgets'), spec: { ...spec, scope, versions } } as CustomResourceDefinition);
      await until(crds, name, (one) => hasCondition(one, 'NamesAccepted'));
    };
    await define('Namespaced');
    await server.client.resource(Widgets).create(widget('default', 'a'));
    await crds.delete(name);
    await until(crds, name, (one) => one === undefined);
    // In another scope the object could not be accessed, and would prevent the deletion of the definition forever.
    await define('Cluster');
    const all = resourceType<ApiObject>({ ...Widgets, namespaced: false });
    expect((await server.client.resource(all).list()).items).toEqual([]);
  });

  test('a definition is removed even if it no longer lists all its stored versions', async () => {
    await using server = await testServer({ controllers: ['crd-names', 'crd-established', 'crd-finalizer'] });
    const crds = server.client.resource(CustomResourceDefinitions);
    const schema = { openAPIV3Schema: { type: 'object' } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const { spec } = crd('widgets');
    await crds.create({ ...crd('widgets'), spec: { ...spec, versions } } as CustomResourceDefinition);
    const name = { name: 'widgets.example.com' };
    await until(crds, name, (found) => hasCondition(found, 'Established'));
    await crds.subresource('status').patch(name, { type: 'merge', body: { status: { storedVersions: ['v0', 'v1'] } } });
    await crds.delete(name);
    expect(await until(crds, name, (found) => found === undefined)).toBeUndefined();
  });

  test('the direct access to instances is not used any more after a stop', async () => {
    const asked: string[] = [];
    let answer = (_: number): void => {};
    const instances: CustomResourceInstances = {
      count: () => {
        asked.push('count');
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      deleteAll: async () => void asked.push('deleteAll'),
    };
    const { stop } = await runControllers([crdFinalizer({ instances })], async (api) => {
      await api.resource(CustomResourceDefinitions).create(terminating(true));
      await api.resource(CustomResourceDefinitions).delete({ name: 'widgets.example.com' });
    });
    const stopped = stop();
    answer(1);
    await settled();
    expect(asked).toEqual(['count']);
    await stopped;
  });

  test('a failure to delete instances is reported and retried', async () => {
    const { client, clock } = await runControllers([crdFinalizer()], async (api) => {
      await api.resource(Widgets).create(widget('n', 'a'));
      await api.resource(CustomResourceDefinitions).create(terminating(true));
      api.fail = ({ verb }) => (verb === 'deletecollection' ? new Error('webhook says no') : undefined);
      await api.resource(CustomResourceDefinitions).delete({ name: 'widgets.example.com' });
    });
    const crds = client.resource(CustomResourceDefinitions);
    await settled();
    expect(summary((await crds.get({ name: 'widgets.example.com' }))?.status ?? {})[1]).toBe(
      'Terminating True InstanceDeletionFailed: could not issue all deletes: webhook says no',
    );
    client.fail = () => undefined;
    await clock.advance(10_000);
    expect(await crds.get({ name: 'widgets.example.com' })).toBeUndefined();
  });
});
