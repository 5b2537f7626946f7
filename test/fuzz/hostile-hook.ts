import type { ServerResponse } from 'node:http';
import { httpsHook } from '../admission/webhooks/https-hook.js';
import type { Random } from './random.js';
import { type FuzzRequest, requestTo } from './request.js';

/** A hostile webhook on the loopback interface: the path of its URL selects what it does. */
export interface HostileHook {
  /** Returns requests that configure some of its behaviours, write objects meanwhile and remove the configurations. */
  story(random: Random, at: number): readonly FuzzRequest[];
  close(): Promise<void>;
}

interface Review {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly request?: {
    readonly uid?: string;
    readonly objects?: readonly object[];
    readonly desiredAPIVersion?: string;
  };
}
type Way = (response: ServerResponse, review: Review) => void;

const json = (response: ServerResponse, value: unknown): void => void response.end(JSON.stringify(value));
const admitted = ({ apiVersion, kind, request }: Review, more: object = {}): object => ({
  apiVersion,
  kind,
  response: { uid: request?.uid, allowed: true, ...more },
});
const patched =
  (operations: unknown): Way =>
  (response, review) =>
    json(
      response,
      admitted(review, {
        patchType: 'JSONPatch',
        patch: Buffer.from(typeof operations === 'string' ? operations : JSON.stringify(operations)).toString('base64'),
      }),
    );
const converted =
  (change: (objects: readonly object[], to: string) => unknown): Way =>
  (response, { apiVersion, kind, request }) =>
    json(response, {
      apiVersion,
      kind,
      response: {
        uid: request?.uid,
        result: { status: 'Success' },
        convertedObjects: change(request?.objects ?? [], request?.desiredAPIVersion ?? ''),
      },
    });
const inVersion = (objects: readonly object[], apiVersion: string): readonly object[] =>
  objects.map((object) => ({ ...object, apiVersion }));
const deep = (open: string, close: string): string => `${open.repeat(50_000)}1${close.repeat(50_000)}`;

const ofAnyReview: Readonly<Record<string, Way>> = {
  garbage: (response) => void response.end(Buffer.from(Array.from({ length: 999 }, (_, at) => (at * 7) % 256))),
  empty: (response) => void response.end(),
  text: (response) => void response.end('<html>no</html>'),
  null: (response) => void response.end('null'),
  list: (response) => void response.end('[]'),
  deep: (response) => void response.end(deep('{"a":', '}')),
  huge: (response) => void response.end(`{"kind":"${'a'.repeat(8_000_000)}"}`),
  endless: (response) => {
    const write = (): void => {
      while (!response.destroyed && response.write('a'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  },
  members: (response) => void response.end(`{${'"a":1,'.repeat(400_000)}"a":1}`),
  never: () => {},
  slowly: (response) => {
    const drip = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(drip));
  },
  'hang-up': (response) => void response.destroy(),
  'half-way': (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"a":');
    setTimeout(() => response.destroy(), 5);
  },
  'no-http': (response) => void response.socket?.end('\0\xff HTTP\r\n\r\n\r\n'),
  'bad-headers': (response) =>
    void response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef'),
  'long-header': (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\na: ${'a'.repeat(100_000)}\r\n\r\n`),
  'around-in-circles': (response) => void response.writeHead(307, { location: '/around-in-circles' }).end(),
  elsewhere: (response) => void response.writeHead(308, { location: 'https://10.255.255.1/' }).end(),
  'to-a-file': (response) => void response.writeHead(307, { location: 'file:///etc/passwd' }).end(),
  later: (response) => void response.writeHead(429, { 'retry-after': '0' }).end('later'),
  'much-later': (response) => void response.writeHead(503, { 'retry-after': '999999' }).end(),
  teapot: (response) => void response.writeHead(418).end('a'.repeat(10_000)),
  informing: (response) => {
    for (let left = 100; left > 0; left--) response.writeProcessing();
    response.end('{}');
  },
  'gzip-bomb': (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('\x1f\x8b'),
};

const ofAdmission: Readonly<Record<string, Way>> = {
  yes: (response, review) => json(response, admitted(review)),
  no: (response, review) =>
    json(
      response,
      admitted(review, {
        allowed: false,
        status: { code: 99_999, message: '\ud800\r\n', reason: '__proto__', details: { causes: [{ field: 1 }] } },
      }),
    ),
  'no-with-200': (response, review) => json(response, admitted(review, { allowed: false, status: { code: 200 } })),
  'no-with-much': (response, review) =>
    json(response, admitted(review, { allowed: false, status: { message: 'a'.repeat(2_000_000) } })),
  'wrong-uid': (response, review) => json(response, admitted(review, { uid: 'x' })),
  'wrong-kind': (response, review) => json(response, { ...admitted(review), kind: '__proto__' }),
  'wrong-version': (response, review) => json(response, { ...admitted(review), apiVersion: 'v1' }),
  warnings: (response, review) =>
    json(response, admitted(review, { warnings: Array.from({ length: 3_000 }, (_, at) => `é\r\n"\\${at}`) })),
  annotations: (response, review) =>
    json(
      response,
      admitted(review, {
        auditAnnotations: Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`a${at}`, 'a'])),
      }),
    ),
  'not-a-patch': patched('{"a":'),
  'empty-patch': patched(''),
  'patch-that-doubles': patched([
    { op: 'add', path: '/data', value: { a: 'aaaaaaaaaaaaaaaa' } },
    ...Array.from({ length: 40 }, () => [
      { op: 'copy', from: '/data', path: '/data/b' },
      { op: 'copy', from: '/data', path: '/data/c' },
    ]).flat(),
  ]),
  'patch-of-many': patched(Array.from({ length: 9_000 }, (_, at) => ({ op: 'add', path: `/data/k${at}`, value: 'v' }))),
  'patch-of-a-name': patched([{ op: 'replace', path: '/metadata/name', value: 'other' }]),
  'patch-of-a-kind': patched([{ op: 'replace', path: '/kind', value: 'Secret' }]),
  'patch-of-an-identity': patched([{ op: 'add', path: '/metadata/uid', value: '__proto__' }]),
  'patch-of-everything': patched([{ op: 'replace', path: '', value: null }]),
  'patch-of-a-prototype': patched([
    { op: 'add', path: '/__proto__/polluted', value: 1 },
    { op: 'add', path: '/constructor/prototype/polluted', value: 1 },
  ]),
  'patch-that-is-wrong': patched([{ op: 'add', path: '/data', value: 1 }]),
  'patch-that-is-deep': patched(`[{"op":"add","path":"/metadata/annotations","value":${deep('[', ']')}}]`),
  'patch-with-fields': patched([
    { op: 'add', path: '/metadata/managedFields', value: [{ manager: 'x', fieldsV1: 1 }] },
  ]),
  'patch-of-labels': patched([{ op: 'add', path: '/metadata/labels', value: { '/!': '\u0000' } }]),
  'patch-again': patched([{ op: 'add', path: '/metadata/annotations', value: { again: 'yes' } }]),
};

const ofConversion: Readonly<Record<string, Way>> = {
  converts: converted(inVersion),
  'converts-to-nothing': converted(() => []),
  'converts-to-null': converted(() => null),
  'converts-to-more': converted((objects, to) => [...inVersion(objects, to), ...inVersion(objects, to)]),
  'converts-to-others': converted((objects, to) =>
    inVersion(objects, to).map((object) => ({ ...object, metadata: { name: 'x', uid: 'y' } })),
  ),
  'converts-to-no-version': converted((objects) => objects),
  'converts-to-numbers': converted((objects) => objects.map(() => 1)),
  'converts-to-much': converted((objects, to) =>
    inVersion(objects, to).map((object) => ({ ...object, spec: { a: 'a'.repeat(1_000_000) } })),
  ),
  'converts-to-wrong': converted((objects, to) =>
    inVersion(objects, to).map((object) => ({ ...object, spec: 1, metadata: 1 })),
  ),
  'converts-to-prototypes': converted((objects, to) =>
    inVersion(objects, to).map((object) => ({
      ...object,
      constructor: { prototype: 1 },
      metadata: { ...(object as { metadata?: object }).metadata, labels: { '!': 1 } },
    })),
  ),
};
const ways: Readonly<Record<string, Way>> = { ...ofAnyReview, ...ofAdmission, ...ofConversion };

const registrations = '/apis/admissionregistration.k8s.io/v1';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const maps = '/api/v1/namespaces/default/configmaps';

export async function hostileHook(): Promise<HostileHook> {
  const hook = await httpsHook(({ path, body }, response) => {
    // These are not used, and a campaign is long.
    hook.asked.length = 0;
    response.on('error', () => {});
    const way = ways[path.slice(1).split('?')[0] ?? ''];
    let review: Review = {};
    try {
      review = JSON.parse(body) as Review;
    } catch {
      // It responds to malformed requests as well.
    }
    if (way === undefined) response.writeHead(404).end();
    else way(response, review);
  });
  const { port, caBundle } = hook;
  const clientOf = (way: string, random: Random): object =>
    random.oneIn(12)
      ? random.pick([
          { url: `https://127.0.0.1:${port}/${way}` },
          {
            url: `https://127.0.0.1:${port}/${way}`,
            caBundle: Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n').toString('base64'),
          },
          { url: 'https://127.0.0.1:1/', caBundle },
          { url: `https://0.0.0.0.:${port}/${way}`, caBundle },
          { service: { namespace: 'default', name: 'none', path: `/${way}` }, caBundle },
        ])
      : { url: `https://127.0.0.1:${port}/${way}`, caBundle };

  const admission = (random: Random, at: number): readonly FuzzRequest[] => {
    const origin = `hook ${at}`;
    const kind = random.pick(['Validating', 'Mutating']);
    const collection = `${registrations}/${kind.toLowerCase()}webhookconfigurations`;
    const name = `hook-${at % 7}`;
    const webhooks = Array.from({ length: 1 + random.below(3) }, (_, place) => ({
      name: `w${place}.hook.example.com`,
      clientConfig: clientOf(random.pick(Object.keys(random.oneIn(3) ? ofAnyReview : ofAdmission)), random),
      sideEffects: random.pick(['None', 'NoneOnDryRun']),
      admissionReviewVersions: random.pick([['v1'], ['v1beta1', 'v1'], ['v1beta1'], ['v1', 'v2']]),
      failurePolicy: random.pick(['Fail', 'Ignore']),
      matchPolicy: random.pick(['Exact', 'Equivalent']),
      timeoutSeconds: 1,
      ...(kind === 'Mutating' ? { reinvocationPolicy: random.pick(['Never', 'IfNeeded']) } : {}),
      // Other requests write other objects in the meantime.
      objectSelector: { matchLabels: { hook: name } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
    }));
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { hook: name } },
      data: { a: '1' },
    };
    const send = (method: string, url: string, body?: unknown, type?: string): FuzzRequest =>
      requestTo(method, url, {
        ...(body === undefined ? {} : { body }),
        ...(type === undefined ? {} : { type }),
        origin,
      });
    return [
      send('POST', collection, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: `${kind}WebhookConfiguration`,
        metadata: { name },
        webhooks,
      }),
      send('POST', maps, object),
      send('PUT', `${maps}/${name}`, { ...object, data: { a: '2' } }),
      send('PATCH', `${maps}/${name}?fieldManager=m&force=true`, object, 'application/apply-patch+yaml'),
      send('POST', `${maps}?dryRun=All&timeout=1s`, object),
      send('GET', `${maps}/${name}`),
      send('DELETE', `${maps}/${name}`),
      send('DELETE', `${collection}/${name}`),
      send('DELETE', `${maps}/${name}`),
    ];
  };

  const conversion = (random: Random, at: number): readonly FuzzRequest[] => {
    const origin = `conversion ${at}`;
    const plural = `v${at % 7}`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const way = random.pick(Object.keys(random.oneIn(3) ? ofAnyReview : ofConversion));
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.hook.example.com` },
      spec: {
        group: 'hook.example.com',
        scope: 'Cluster',
        names: { plural, kind: `V${at % 7}` },
        versions: ['v1', 'v2'].map((name) => ({
          name,
          served: true,
          storage: name === 'v1',
          schema,
          subresources: { status: {} },
        })),
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: clientOf(way, random), conversionReviewVersions: ['v1'] },
        },
      },
    };
    const object = (version: string, name: string): object => ({
      apiVersion: `hook.example.com/${version}`,
      kind: `V${at % 7}`,
      metadata: { name },
      spec: { a: 1 },
    });
    const send = (method: string, url: string, body?: unknown, type?: string, accept?: string): FuzzRequest =>
      requestTo(method, `${url}${url.includes('?') ? '&' : '?'}timeout=1s`, {
        ...(body === undefined ? {} : { body }),
        ...(type === undefined ? {} : { type }),
        headers: accept === undefined ? [] : [['accept', accept]],
        origin,
      });
    const [v1, v2] = ['v1', 'v2'].map((version) => `/apis/hook.example.com/${version}/${plural}`) as [string, string];
    return [
      requestTo('POST', crds, { body: definition, origin }),
      send('POST', v1, object('v1', 'o')),
      send('POST', v1, object('v1', 'p')),
      send('POST', v2, object('v2', 'q')),
      send('GET', v2),
      send('GET', `${v2}/o`, undefined, undefined, 'application/yaml'),
      send('GET', v2, undefined, undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io'),
      send('GET', `${v2}?watch=true&resourceVersion=0`),
      send('PUT', `${v2}/o`, object('v2', 'o')),
      send('PATCH', `${v2}/o?fieldManager=m&force=true`, object('v2', 'o'), 'application/apply-patch+yaml'),
      send('PATCH', `${v2}/p`, { spec: { a: 2 } }, 'application/merge-patch+json'),
      send('DELETE', `${v2}/p`),
      send('DELETE', v2),
      requestTo('DELETE', `${crds}/${plural}.hook.example.com`, { origin }),
    ];
  };

  return {
    story: (random, at) => (random.oneIn(2) ? admission(random, at) : conversion(random, at)),
    close: () => hook.close(),
  };
}
