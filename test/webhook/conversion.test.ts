import { expect, test } from 'vitest';
import { type JsonObject, type Resource, resourceType } from '../../src/api/object.js';
import { conversionWebhook } from '../../src/webhook/conversion.js';
import { UnreadableReview } from '../../src/webhook/webhook.js';
import { reviewContext } from './review.js';

type V1 = Resource<{ readonly host: string; readonly port: number }>;
type V2 = Resource<{ readonly address: string }>;
type V3 = Resource<{ readonly addresses: readonly string[] }>;
const version = (name: string) => ({
  group: 'example.com',
  version: name,
  plural: 'gates',
  kind: 'Gate',
  namespaced: true,
});
const webhook = conversionWebhook({
  hub: resourceType<V2>(version('v2')),
  spokes: [
    {
      version: resourceType<V1>(version('v1')),
      toHub: ({ spec: { host, port }, ...rest }) => ({ ...rest, spec: { address: `${host}:${port}` } }),
      fromHub({ spec, ...rest }) {
        const [host = '', port = ''] = spec.address.split(':');
        if (!/^\d+$/.test(port)) throw new Error(`spec.address: ${spec.address} has no port`);
        return { ...rest, spec: { host, port: Number(port) } };
      },
    },
    {
      version: resourceType<V3>(version('v3')),
      toHub: ({ spec, ...rest }) => ({ ...rest, spec: { address: spec.addresses[0] ?? '' } }),
      fromHub: ({ spec, ...rest }) => ({ ...rest, spec: { addresses: [spec.address] } }),
    },
  ],
});

const gate = (to: string, spec: JsonObject): JsonObject => ({
  apiVersion: `example.com/${to}`,
  kind: 'Gate',
  metadata: { name: 'a', uid: 'u' },
  spec,
});
const forms = {
  v1: gate('v1', { host: 'a', port: 1 }),
  v2: gate('v2', { address: 'a:1' }),
  v3: gate('v3', { addresses: ['a:1'] }),
};
const names = ['v1', 'v2', 'v3'] as const;

test.each(names.flatMap((from) => names.map((to) => [from, to] as const)))('%s to %s', async (from, to) => {
  const request = { desiredAPIVersion: `example.com/${to}`, objects: [forms[from]] };
  expect(await webhook.respond(request, reviewContext())).toEqual({
    result: { status: 'Success' },
    convertedObjects: [forms[to]],
  });
});

test.each<[string, string, JsonObject, string]>([
  ['that no function converts', 'v1', gate('v2', { address: 'a' }), 'spec.address: a has no port'],
  ['of an unknown version', 'v2', gate('v9', {}), '"example.com/v9" is not a version that is converted here'],
  ['for an unknown version', 'v9', forms.v1, '"example.com/v9" is not a version that is converted here'],
  ['of another kind', 'v2', { ...forms.v1, kind: 'Door' }, '"Door" is not a kind that is converted here'],
])('an object %s fails the whole review, with the reason', async (_, to, object, message) => {
  const context = reviewContext();
  const request = { desiredAPIVersion: `example.com/${to}`, objects: [forms.v1, object] };
  expect(await webhook.respond(request, context)).toEqual({
    result: { status: 'Failure', message },
    convertedObjects: [],
  });
  expect(context.lines).toMatchObject([{ level: 'warn', message: 'conversion failed' }]);
});

test.each<[string, JsonObject, string]>([
  ['names no version', { objects: [] }, 'request.desiredAPIVersion is missing'],
  ['has no list of objects', { desiredAPIVersion: 'example.com/v1' }, 'request.objects is missing'],
  [
    'has an object that is not an object',
    { desiredAPIVersion: 'example.com/v1', objects: [1] },
    'request.objects[0] is not an object',
  ],
])('a review that %s is refused', async (_, request, message) => {
  const refused = webhook.respond(request, reviewContext());
  await expect(refused).rejects.toThrow(UnreadableReview);
  await expect(refused).rejects.toThrow(message);
});

test('the object that a conversion function returns must match the type of its version', () => {
  const fromHub = (): V1 => ({ apiVersion: '', kind: '', metadata: {}, spec: { host: '', port: 0 } });
  const versions = { hub: resourceType<V2>(version('v2')), version: resourceType<V1>(version('v1')) };
  conversionWebhook({
    hub: versions.hub,
    // @ts-expect-error: the hub has an address
    spokes: [{ version: versions.version, toHub: ({ spec: _, ...rest }: V1) => ({ ...rest, spec: {} }), fromHub }],
  });
});

test('a conversion that does not return an object fails the review', async () => {
  const broken = conversionWebhook({
    hub: resourceType<V2>(version('v2')),
    spokes: [
      { version: resourceType<V1>(version('v1')), toHub: () => undefined as never, fromHub: () => undefined as never },
    ],
  });
  const request = { desiredAPIVersion: 'example.com/v2', objects: [forms.v1] };
  expect(await broken.respond(request, reviewContext())).toMatchObject({
    result: { status: 'Failure', message: 'its conversion to example.com/v2 is not an object' },
  });
});
