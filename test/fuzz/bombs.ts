import type { Json } from '../../src/api/object.js';
import { encodeEnvelope } from '../../src/schema/protobuf.js';
import { many } from '../many.js';
import { field, varint } from '../protobuf-bytes.js';
import { bombDefinition as definition } from './bomb-definition.js';
import { expressionBombs } from './expression-bombs.js';
import { hostileNames, nested } from './hostile.js';
import { type FuzzRequest, requestTo } from './request.js';

/**
 * Requests that are meant to be expensive: deep, huge, repetitive. Each is small enough to be sent and must be answered
 * quickly.
 */

const maps = '/api/v1/namespaces/default/configmaps';
const widgets = '/apis/fuzz.example.com/v1/widgets';
const mazes = '/apis/fuzz.example.com/v1/mazes';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

const apply = 'application/apply-patch+yaml';
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const json = 'application/json-patch+json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';

const members = (count: number, value: (at: number) => unknown = () => 'v'): object =>
  Object.fromEntries(many(count, (at) => [`k${at}`, value(at)]));
const longName = 'a'.repeat(1_000_000);
/** The longest name that YAML, and so an apply, may have. */
const longestKey = 'a'.repeat(1_000);
const configMap = (more: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'bomb' },
  ...more,
});
const podRequest = (spec: object) =>
  requestTo('POST', '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests', {
    body: {
      apiVersion: 'certificates.k8s.io/v1beta1',
      kind: 'PodCertificateRequest',
      metadata: { name: 'bomb' },
      spec,
    },
  });
const widget = (spec: unknown): object => ({
  apiVersion: 'fuzz.example.com/v1',
  kind: 'Widget',
  metadata: { name: 'bomb' },
  spec,
});
const maze = (more: object): object => ({
  apiVersion: 'fuzz.example.com/v1',
  kind: 'Maze',
  metadata: { name: 'bomb' },
  ...more,
});
const clusterRole = (rules: unknown): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'bomb' },
  rules,
});

/** Returns a definition whose versions are derived from the usual one. */
function definitionWith(versionsOf: (version: object) => readonly object[]) {
  const made = definition({ type: 'object' }) as { spec: { versions: readonly object[] } };
  const versions = versionsOf(made.spec.versions[0] ?? {});
  return requestTo('POST', crds, { body: { ...made, spec: { ...made.spec, versions } } });
}

function deepSchema(levels: number, around: (inner: Json) => Json): Json {
  let schema: Json = { type: 'string' };
  for (let level = 0; level < levels; level++) schema = around(schema);
  return schema;
}

/**
 * Returns messages nested in each other, always in the same field. Built from the inside, without copying the inner
 * ones again.
 */
function nestedMessages(levels: number, field: number): Buffer {
  const heads: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < levels; level++) {
    const head = Buffer.from([(field << 3) | 2, ...varint(length)]);
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat(heads.reverse());
}

const envelope = (kind: string, apiVersion: string, raw: Buffer): Buffer => encodeEnvelope({ kind, apiVersion }, raw);

export const bombs: Readonly<Record<string, () => FuzzRequest>> = {
  'more values than are read': () => requestTo('POST', maps, { body: configMap({ data: members(150_000) }) }),
  'more protobuf fields than are read': () =>
    requestTo('POST', maps, {
      body: envelope('ConfigMap', 'v1', Buffer.concat(many(500_000, () => Buffer.from([0x12, 0])) as Buffer[])),
      type: protobuf,
    }),
  'objects 100,000 deep': () => requestTo('POST', maps, { body: `{"a":`.repeat(100_000) }),
  'closed objects 100,000 deep': () =>
    requestTo('POST', maps, { body: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}` }),
  'lists 1,000,000 deep': () => requestTo('POST', maps, { body: '['.repeat(1_000_000) }),
  'objects as deep as is read': () => requestTo('POST', widgets, { body: widget({ any: nested(900) }) }),
  'lists as deep as is read': () => requestTo('POST', widgets, { body: widget({ any: nested(900, true) }) }),
  'deep object in a text field': () => requestTo('POST', maps, { body: configMap({ data: { a: nested(900) } }) }),
  'deep merge patch': () => requestTo('PATCH', `${widgets}/o`, { body: { spec: { any: nested(900) } }, type: merge }),
  'deep strategic patch': () => requestTo('PATCH', `${maps}/o`, { body: { data: nested(900) }, type: strategic }),
  'deep apply': () =>
    requestTo('PATCH', `${widgets}/bomb?fieldManager=f`, { body: widget({ any: nested(900) }), type: apply }),
  'deep JSON patch': () =>
    requestTo('PATCH', `${widgets}/o`, { body: [{ op: 'add', path: '/spec/any', value: nested(900) }], type: json }),
  'deep JSON patch path': () =>
    requestTo('PATCH', `${widgets}/o`, { body: [{ op: 'add', path: '/a'.repeat(500_000), value: 1 }], type: json }),
  'deep YAML in flow style': () => requestTo('POST', maps, { body: '['.repeat(100_000), type: yaml }),
  'deep YAML in block style': () =>
    requestTo('POST', maps, { body: many(1_500, (at) => `${' '.repeat(at)}a:`).join('\n'), type: yaml }),
  'YAML aliases that multiply': () =>
    requestTo('POST', maps, {
      body: many(30, (at) => `a${at}: &a${at} [${at === 0 ? 'x' : many(9, () => `*a${at - 1}`).join(',')}]`).join('\n'),
      type: yaml,
    }),
  'YAML merge keys that multiply': () =>
    requestTo('POST', maps, {
      body: many(
        30,
        (at) => `a${at}: &a${at} {${at === 0 ? 'x: 1' : `<<: [${many(9, () => `*a${at - 1}`).join(',')}]`}}`,
      ).join('\n'),
      type: yaml,
    }),
  'YAML with 100,000 anchors': () =>
    requestTo('POST', maps, { body: many(100_000, (at) => `- &a${at} x`).join('\n'), type: yaml }),
  'YAML of 3 MB of colons': () => requestTo('POST', maps, { body: ': '.repeat(1_500_000), type: yaml }),
  'YAML of many documents': () => requestTo('POST', maps, { body: '---\na: 1\n'.repeat(200_000), type: yaml }),
  'YAML of 1 MB in quotes': () => requestTo('POST', maps, { body: `a: "${'\\x41'.repeat(250_000)}"`, type: yaml }),
  'apply of YAML with many keys': () =>
    requestTo('PATCH', `${maps}/bomb?fieldManager=f`, {
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n${many(20_000, (at) => `  k${at}: v`).join('\n')}`,
      type: apply,
    }),
  'a body at the limit': () => requestTo('POST', maps, { body: configMap({ data: { a: 'x'.repeat(3_145_000) } }) }),
  'a body beyond the limit': () => requestTo('POST', maps, { body: 'x'.repeat(3_145_729) }),
  '3 MB of one repeated member': () => requestTo('POST', maps, { body: `{${'"a":1,'.repeat(440_000)}"a":1}` }),
  '3 MB of repeated deep members': () =>
    requestTo('POST', maps, { body: `{"metadata":{"name":"bomb"},"data":{${'"a":"",'.repeat(400_000)}"a":""}}` }),
  '49,000 unknown fields': () => requestTo('POST', maps, { body: { metadata: { name: 'bomb' }, ...members(49_000) } }),
  '49,000 unknown fields, strictly': () =>
    requestTo('POST', `${maps}?fieldValidation=Strict`, { body: { metadata: { name: 'bomb' }, ...members(49_000) } }),
  '49,000 keys of data': () => requestTo('POST', maps, { body: configMap({ data: members(49_000) }) }),
  '49,000 bad keys of data': () =>
    requestTo('POST', maps, { body: configMap({ data: Object.fromEntries(many(49_000, (at) => [`/${at}`, 'v'])) }) }),
  '49,000 labels': () =>
    requestTo('POST', maps, { body: configMap({ metadata: { name: 'bomb', labels: members(49_000) } }) }),
  '49,000 bad labels': () =>
    requestTo('POST', maps, {
      body: configMap({ metadata: { name: 'bomb', labels: members(49_000, () => 'not good!') } }),
    }),
  '49,000 finalizers': () =>
    requestTo('POST', maps, {
      body: configMap({ metadata: { name: 'bomb', finalizers: many(49_000, (at) => `a.b/c${at}`) } }),
    }),
  '49,000 bad finalizers': () =>
    requestTo('POST', maps, { body: configMap({ metadata: { name: 'bomb', finalizers: many(49_000, () => '!') } }) }),
  '8,000 owners': () =>
    requestTo('POST', maps, {
      body: configMap({
        metadata: {
          name: 'bomb',
          ownerReferences: many(8_000, (at) => ({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: `n${at}`,
            uid: `u${at}`,
            controller: true,
          })),
        },
      }),
    }),
  '4,500 managers': () =>
    requestTo('POST', maps, {
      body: configMap({
        metadata: {
          name: 'bomb',
          managedFields: many(4_500, (at) => ({
            manager: `m${at}`,
            operation: 'Apply',
            apiVersion: 'v1',
            time: '2026-01-01T00:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { [`f:k${at}`]: {} } },
          })),
        },
      }),
    }),
  'managed fields 900 deep': () =>
    requestTo('POST', maps, {
      body: configMap({
        metadata: {
          name: 'bomb',
          managedFields: [
            {
              manager: 'm',
              operation: 'Update',
              apiVersion: 'v1',
              fieldsType: 'FieldsV1',
              fieldsV1: nestedFields(900),
            },
          ],
        },
      }),
    }),
  'managed fields with a deep value in a name': () =>
    requestTo('PUT', `${maps}/o`, {
      body: configMap({
        metadata: {
          name: 'o',
          managedFields: managedFields({ [`v:${'['.repeat(100_000)}${']'.repeat(100_000)}`]: {} }),
        },
      }),
    }),
  'managed fields with a deep key in a name': () =>
    requestTo('PUT', `${maps}/o`, {
      body: configMap({
        metadata: {
          name: 'o',
          managedFields: managedFields({ [`k:${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`]: {} }),
        },
      }),
    }),
  'managed fields with 50,000 keys in a name': () =>
    requestTo('PUT', `${maps}/o`, {
      body: configMap({
        metadata: { name: 'o', managedFields: managedFields({ [`k:${JSON.stringify(members(50_000))}`]: {} }) },
      }),
    }),
  'a deep last applied configuration': () =>
    requestTo('PUT', `${maps}/o`, {
      body: configMap({
        metadata: {
          name: 'o',
          annotations: {
            'kubectl.kubernetes.io/last-applied-configuration': `{"apiVersion":"v1","kind":"ConfigMap","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
          },
        },
      }),
    }),
  'a deep last applied configuration, used': () =>
    requestTo('PATCH', `${maps}/o?fieldManager=kubectl`, {
      body: configMap({ metadata: { name: 'o' }, data: { a: '2' } }),
      type: apply,
    }),
  'a deep docker configuration': () =>
    requestTo('POST', '/api/v1/namespaces/default/secrets', {
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/dockerconfigjson',
        metadata: { name: 'bomb' },
        stringData: { '.dockerconfigjson': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}` },
      },
    }),
  'a token of deep JSON': () =>
    requestTo('GET', maps, {
      headers: [['authorization', `Bearer ${[deepText(1_500), deepText(1_500), 'AAAA'].join('.')}`]],
    }),
  'a token review of deep JSON': () =>
    requestTo('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: [deepText(100_000), deepText(100_000), 'AAAA'].join('.') },
      },
    }),
  'a continue token of deep JSON': () => requestTo('GET', `${maps}?limit=1&continue=${deepText(3_000)}`),
  'a name of 1 MB': () => requestTo('POST', maps, { body: configMap({ metadata: { name: 'a'.repeat(1_000_000) } }) }),
  'a bad name of 1 MB': () =>
    requestTo('POST', maps, { body: configMap({ metadata: { name: '-.'.repeat(500_000) } }) }),
  'a name of signs of two units': () =>
    requestTo('POST', maps, { body: configMap({ metadata: { name: '\u{1f600}'.repeat(200_000) } }) }),
  '12,000 JSON patch operations': () =>
    requestTo('PATCH', `${maps}/o`, {
      body: many(12_000, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
      type: json,
    }),
  '10,000 JSON patch operations at the front of a list': () =>
    requestTo('PATCH', `${widgets}/o`, {
      body: [
        { op: 'add', path: '/spec/any', value: [] },
        ...many(9_999, () => ({ op: 'add', path: '/spec/any/0', value: 1 })),
      ],
      type: json,
    }),
  'JSON patch that doubles': () =>
    requestTo('PATCH', `${widgets}/o`, {
      body: [
        { op: 'add', path: '/spec/any', value: ['x'.repeat(100)] },
        ...many(40, () => ({ op: 'copy', from: '/spec/any', path: '/spec/any/-' })),
      ],
      type: json,
    }),
  'JSON patch that moves a value into itself': () =>
    requestTo('PATCH', `${widgets}/o`, { body: [{ op: 'move', from: '/spec', path: '/spec/any' }], type: json }),
  'JSON patch with a huge index': () =>
    requestTo('PATCH', `${widgets}/o`, {
      body: [
        { op: 'add', path: '/spec/any', value: [1] },
        { op: 'add', path: '/spec/any/4294967294', value: 1 },
      ],
      type: json,
    }),
  'strategic merge of 20,000 items': () =>
    requestTo('PATCH', '/api/v1/namespaces/default/serviceaccounts/o', {
      body: { secrets: many(20_000, (at) => ({ name: `s${at}` })) },
      type: strategic,
    }),
  'strategic deletion of 16,000 items': () =>
    requestTo('PATCH', '/api/v1/namespaces/default/serviceaccounts/o', {
      body: { secrets: many(16_000, (at) => ({ $patch: 'delete', name: `s${at}` })) },
      type: strategic,
    }),
  'strategic order of 20,000 items': () =>
    requestTo('PATCH', `${maps}/o`, {
      body: { metadata: { finalizers: [], '$setElementOrder/finalizers': many(20_000, (at) => `a/${at}`) } },
      type: strategic,
    }),
  'strategic deletion of 49,000 primitives': () =>
    requestTo('PATCH', `${maps}/o`, {
      body: { metadata: { '$deleteFromPrimitiveList/finalizers': many(49_000, (at) => `a/${at}`) } },
      type: strategic,
    }),
  'apply of 10,000 list items': () =>
    requestTo('PATCH', `${widgets}/bomb?fieldManager=f&force=true`, {
      body: widget({ ports: many(10_000, (at) => ({ port: at, protocol: 'TCP' })) }),
      type: apply,
    }),
  'apply of 30,000 set members': () =>
    requestTo('PATCH', `${widgets}/bomb?fieldManager=f&force=true`, {
      body: widget({ tags: many(30_000, (at) => `t${at}`) }),
      type: apply,
    }),
  'apply with hostile keys': () =>
    requestTo('PATCH', `${widgets}/bomb?fieldManager=f&force=true`, {
      body: JSON.stringify(widget({ any: 1 })).replace(
        '"any":1',
        `"any":{${hostileNames.map((name) => `${JSON.stringify(name)}:{"a":1}`).join(',')}}`,
      ),
      type: apply,
    }),
  'a label selector of 1 MB': () => requestTo('GET', `${maps}?labelSelector=${'a%2C'.repeat(200)}a`),
  'a deletion of a collection by a selector of 1 MB': () =>
    requestTo(
      'DELETE',
      `${maps}?dryRun=All&labelSelector=${encodeURIComponent(`a in (${many(3_000, (at) => at).join(',')})`)}`,
    ),
  'a selector with 3,000 requirements': () =>
    requestTo('GET', `${maps}?labelSelector=${encodeURIComponent(many(1_500, (at) => `!k${at}`).join(','))}`),
  'a selector with a long value': () => requestTo('GET', `${maps}?labelSelector=a%3D${'v'.repeat(10_000)}`),
  'a field selector with 1,000 terms': () =>
    requestTo('GET', `${maps}?fieldSelector=${encodeURIComponent(many(800, () => 'metadata.name!=a').join(','))}`),
  'a selector in a body, 3 MB': () =>
    requestTo('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: {
          resourceAttributes: {
            verb: 'get',
            resource: 'configmaps',
            labelSelector: { rawSelector: many(200_000, (at) => `!k${at}`).join(',') },
          },
        },
      },
    }),
  'a review with 8,000 requirements': () =>
    requestTo('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: {
          resourceAttributes: {
            verb: 'get',
            resource: 'configmaps',
            labelSelector: { requirements: many(8_000, (at) => ({ key: `/${at}`, operator: 'In', values: ['!'] })) },
          },
        },
      },
    }),
  'a path with 5,000 segments': () => requestTo('GET', `/apis${'/a'.repeat(5_000)}`),
  'a path of 10,000 slashes': () => requestTo('GET', `/api/v1${'/'.repeat(10_000)}configmaps`),
  'a path with encoded slashes': () =>
    requestTo('GET', `/api/v1/namespaces/default/configmaps${'%2F..'.repeat(1_000)}`),
  'a query of 5,000 parameters': () => requestTo('GET', `${maps}?${'a&'.repeat(5_000)}`),
  'a continue token of 10 kB': () => requestTo('GET', `${maps}?limit=1&continue=${'A'.repeat(10_000)}`),
  '60 impersonated groups and extras': () =>
    requestTo('GET', maps, {
      headers: [
        ['impersonate-user', 'jane'],
        ...many(60, (at): [string, string] => ['impersonate-group', `g${at}`]),
        ...many(60, (at): [string, string] => [`impersonate-extra-%${at}`, 'v']),
      ],
    }),
  'a bearer token of 10 kB': () =>
    requestTo('GET', maps, { headers: [['authorization', `Bearer ${'a.'.repeat(5_000)}`]] }),
  'a token review of 3 MB': () =>
    requestTo('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: `eyJhbGciOiJSUzI1NiJ9.${'A'.repeat(3_000_000)}.AAAA`, audiences: [] },
      },
    }),
  'a token review of 3 MB of dots': () =>
    requestTo('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '.'.repeat(3_000_000) } },
    }),
  'a token request for 49,000 audiences': () =>
    requestTo('POST', '/api/v1/namespaces/default/serviceaccounts/o/token', {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: many(49_000, (at) => `a${at}`) },
      },
    }),
  'an accept header of 10 kB': () => requestTo('GET', maps, { headers: [['accept', 'a/b;c=d,'.repeat(1_200)]] }),
  'an accept header full of quotes': () =>
    requestTo('GET', maps, { headers: [['accept', `a/b;c="${'\\"'.repeat(4_000)}`]] }),
  'a signing request of 3 MB': () =>
    requestTo('POST', csrs, {
      body: signingRequest(Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----\n${'A'.repeat(2_000_000)}`)),
    }),
  'a signing request of many headers': () =>
    requestTo('POST', csrs, {
      body: signingRequest(Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(40_000))),
    }),
  'a signing request of many lines': () =>
    requestTo('POST', csrs, {
      body: signingRequest(
        Buffer.from(
          `-----BEGIN CERTIFICATE REQUEST-----\n${'\n'.repeat(1_000_000)}-----END CERTIFICATE REQUEST-----\n`,
        ),
      ),
    }),
  'a signing request of deep DER': () => requestTo('POST', csrs, { body: signingRequest(pem(deepDer(20_000))) }),
  'a signing request of indefinite DER': () =>
    requestTo('POST', csrs, { body: signingRequest(pem(Buffer.from('3080'.repeat(50_000), 'hex'))) }),
  'a trust bundle of 3 MB of dashes': () =>
    requestTo('POST', '/apis/certificates.k8s.io/v1beta1/clustertrustbundles', {
      body: {
        apiVersion: 'certificates.k8s.io/v1beta1',
        kind: 'ClusterTrustBundle',
        metadata: { name: 'bomb' },
        spec: { trustBundle: '-'.repeat(1_040_000) },
      },
    }),
  'a trust bundle of 10,000 empty blocks': () =>
    requestTo('POST', '/apis/certificates.k8s.io/v1beta1/clustertrustbundles', {
      body: {
        apiVersion: 'certificates.k8s.io/v1beta1',
        kind: 'ClusterTrustBundle',
        metadata: { name: 'bomb' },
        spec: { trustBundle: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'.repeat(18_000) },
      },
    }),
  'a request for a pod of 40,000 annotations': () =>
    podRequest({ unverifiedUserAnnotations: Object.fromEntries(many(40_000, (at) => [`a.b/k${at}`, ''])) }),
  'a request for a pod of 40,000 bad annotations': () => podRequest({ unverifiedUserAnnotations: members(40_000) }),
  'a request for a pod with a stub of 2 MB': () =>
    podRequest({ stubPKCS10Request: Buffer.alloc(2_000_000, 0x30).toString('base64') }),
  'a request for a pod with a stub of deep DER': () =>
    podRequest({ stubPKCS10Request: deepDer(2_000).toString('base64') }),
  'a request for a pod with a key of deep DER': () =>
    podRequest({ pkixPublicKey: deepDer(2_000).toString('base64'), proofOfPossession: 'AAAA' }),
  'a role of 6,000 rules': () =>
    requestTo('POST', bindings, {
      body: clusterRole(many(6_000, (at) => ({ apiGroups: [''], resources: [`r${at}`], verbs: ['get'] }))),
    }),
  'a role of 24,000 empty rules': () => requestTo('POST', bindings, { body: clusterRole(many(24_000, () => ({}))) }),
  'a role given by somebody with few rights': () =>
    requestTo('POST', bindings, {
      headers: [
        ['impersonate-user', 'jane'],
        ['impersonate-group', 'fuzz:role-writers'],
      ],
      body: clusterRole(
        many(4_500, (at) => ({ apiGroups: [`g${at}`, 'a'], resources: [`r${at}`, 'b'], verbs: ['get', 'list'] })),
      ),
    }),
  'a schema 300 deep': () =>
    requestTo('POST', crds, {
      body: definition(deepSchema(300, (inner) => ({ type: 'object', properties: { a: inner } }))),
    }),
  'a schema of lists 300 deep': () =>
    requestTo('POST', crds, { body: definition(deepSchema(300, (items) => ({ type: 'array', items }))) }),
  'a schema of alternatives 30 deep': () =>
    requestTo('POST', crds, {
      body: definition({
        type: 'object',
        properties: { a: { type: 'string' } },
        anyOf: [deepSchema(100, (inner) => ({ not: { allOf: [inner] } }))],
      }),
    }),
  'a schema with 10,000 properties': () =>
    requestTo('POST', crds, {
      body: definition({ type: 'object', properties: members(10_000, () => ({ type: 'string', default: 'a' })) }),
    }),
  'a schema with 10,000 faults': () =>
    requestTo('POST', crds, {
      body: definition({ type: 'object', properties: members(10_000, () => ({ type: 'nonsense', pattern: '(' })) }),
    }),
  'a schema with an enum of 49,000': () =>
    requestTo('POST', crds, {
      body: definition({
        type: 'object',
        properties: { a: { type: 'string', enum: many(49_000, (at) => `e${at}`) } },
      }),
    }),
  'a schema with an enum of 49,000 equal values': () =>
    requestTo('POST', crds, {
      body: definition({ type: 'object', properties: { a: { type: 'string', enum: many(49_000, () => 'e') } } }),
    }),
  'a schema with a pattern that repeats repetitions': () =>
    requestTo('POST', crds, {
      body: definition({ type: 'string', pattern: '((a{0,100}){0,100}){0,100}', default: 'a'.repeat(100) }),
    }),
  'a schema with a pattern of 1 MB': () =>
    requestTo('POST', crds, { body: definition({ type: 'string', pattern: '(a|b)?'.repeat(150_000) }) }),
  'a schema with a pattern of brackets': () =>
    requestTo('POST', crds, { body: definition({ type: 'string', pattern: '('.repeat(100_000) }) }),
  'a schema with 500 patterns': () =>
    requestTo('POST', crds, {
      body: definition({
        type: 'object',
        properties: members(500, (at) => ({ type: 'string', pattern: `^(a|b|c){1,50}${at}$`, default: 'abc' })),
      }),
    }),
  'a schema with a default of 1 MB': () =>
    requestTo('POST', crds, {
      body: definition({ type: 'array', items: { type: 'string', maxLength: 1 }, default: many(49_000, () => 'ab') }),
    }),
  'a schema with a pattern against 1 MB': () =>
    requestTo('POST', widgets, { body: widget({ pattern: 'a'.repeat(1_000_000) }) }),
  '5,000 items against 1,000 branches': () =>
    requestTo('POST', mazes, { body: maze({ branches: many(5_000, (at) => at + 1) }) }),
  '5,000 items against an enumeration of 1,000 objects': () =>
    requestTo('POST', mazes, { body: maze({ choices: many(5_000, () => ({ a: -1 })) }) }),
  '5,000 items that lack 1,000 keys': () => requestTo('POST', mazes, { body: maze({ wide: many(5_000, () => ({})) }) }),
  '20,000 items that lack 1,000 defaults': () =>
    requestTo('POST', mazes, { body: maze({ filled: many(20_000, () => ({})) }) }),
  'a text that takes many states': () => requestTo('POST', mazes, { body: maze({ text: 'ab'.repeat(500_000) }) }),
  '49,000 items that columns multiply': () =>
    requestTo('POST', `${mazes}?dryRun=All`, {
      body: maze({ lists: [many(49_000, (at) => at)] }),
      headers: [['accept', 'application/json;as=Table;v=v1;g=meta.k8s.io']],
    }),
  '40,000 keys that items have not': () =>
    requestTo('POST', crds, {
      body: definition({
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': many(40_000, (at) => `k${at}`),
        items: { type: 'object' },
      }),
    }),
  '40,000 versions of reviews': () => {
    const made = definition({ type: 'object' }) as { spec: object };
    const webhook = { clientConfig: { url: 'https://a.b' }, conversionReviewVersions: many(40_000, (at) => `v${at}`) };
    return requestTo('POST', `${crds}?dryRun=All`, {
      body: { ...made, spec: { ...made.spec, conversion: { strategy: 'Webhook', webhook } } },
    });
  },
  'a path of a webhook with 500,000 segments': () =>
    requestTo('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All', {
      body: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'bomb' },
        webhooks: [
          { name: 'a.b.c', clientConfig: { service: { namespace: 'a', name: 'b', path: '/'.repeat(500_000) } } },
        ],
      },
    }),
  '40,000 unknown fields under a name of 1 MB': () =>
    requestTo('POST', `${mazes}?dryRun=All`, { body: maze({ map: { [longName]: members(40_000) } }) }),
  '40,000 unknown fields under a name of 1 MB, strictly': () =>
    requestTo('POST', `${mazes}?fieldValidation=Strict`, { body: maze({ map: { [longName]: members(40_000) } }) }),
  '40,000 repeated fields under a name of 900 kB': () =>
    requestTo('POST', `${mazes}?dryRun=All`, {
      body: JSON.stringify(maze({ map: { name: 1 } })).replace(
        '"name":1',
        `"${'a'.repeat(900_000)}":{${'"a":1,'.repeat(40_000)}"a":1}`,
      ),
    }),
  '40,000 wrong items under a name of 1 MB': () =>
    requestTo('POST', mazes, { body: maze({ map: { [longName]: { texts: many(40_000, () => 1) } } }) }),
  '20,000 faults of a schema under a name of 1 MB': () =>
    requestTo('POST', crds, {
      body: definition({ type: 'object', properties: { [longName]: { properties: members(20_000, () => ({})) } } }),
    }),
  'an apply under a name of 1 MB': () =>
    requestTo('PATCH', `${widgets}/bomb?fieldManager=f&force=true`, {
      body: widget({ any: { [longName]: members(20_000) } }),
      type: apply,
    }),
  'an apply under a name of 1,000 characters': () =>
    requestTo('PATCH', `${widgets}/bomb?fieldManager=f&force=true`, {
      body: widget({ any: { [longestKey]: members(20_000) } }),
      type: apply,
    }),
  '20,000 conflicts under a name of 1,000 characters': () =>
    requestTo('PATCH', `${widgets}/bomb?fieldManager=g`, {
      body: widget({ any: { [longestKey]: members(20_000, () => 'w') } }),
      type: apply,
    }),
  'a definition with 2,000 versions': () =>
    definitionWith((version) => many(2_000, (at) => ({ ...version, name: `v${at + 1}`, storage: at === 0 }))),
  'a definition with 10,000 columns': () =>
    definitionWith((version) => {
      const column = (at: number) => ({ name: `c${at}`, type: 'string', jsonPath: `.a[?(@.b=="${at}")].c` });
      return [{ ...version, additionalPrinterColumns: many(10_000, column) }];
    }),
  'a definition with hostile JSON paths': () =>
    definitionWith((version) => {
      const jsonPath = `.a${'[?(@.b'.repeat(50_000)}`;
      return [{ ...version, additionalPrinterColumns: [{ name: 'c', type: 'string', jsonPath }] }];
    }),
  'a list of 49,000 unequal set members': () =>
    requestTo('POST', widgets, { body: widget({ tags: many(49_000, (at) => `${at}`) }) }),
  'a list of 49,000 equal set members': () =>
    requestTo('POST', widgets, { body: widget({ tags: many(49_000, () => 'a') }) }),
  'a list of 16,000 map items': () =>
    requestTo('POST', widgets, {
      body: widget({ ports: many(16_000, (at) => ({ port: at % 65_000, protocol: 'TCP' })) }),
    }),
  'a list of 16,000 equal map items': () =>
    requestTo('POST', widgets, { body: widget({ ports: many(16_000, () => ({ port: 1, protocol: 'TCP' })) }) }),
  'a list of 49,000 wrong items': () => requestTo('POST', widgets, { body: widget({ tags: many(49_000, () => 1) }) }),
  '49,000 unknown fields of a custom resource': () => requestTo('POST', widgets, { body: widget(members(49_000)) }),
  'an unknown kind with a large body': () =>
    requestTo('POST', maps, { body: { apiVersion: 'a/b', kind: 'C', ...members(49_000) } }),
  'protobuf messages 1,000 deep': () =>
    requestTo('POST', crds, {
      body: envelope('CustomResourceDefinition', 'apiextensions.k8s.io/v1', nestedMessages(1_000, 2)),
      type: protobuf,
    }),
  'a protobuf schema 300 deep': () => {
    // spec.versions[0].schema.openAPIV3Schema, then items (18) with a schema (1) in it, repeatedly.
    let schema: Buffer = Buffer.alloc(0);
    for (let level = 0; level < 300; level++) schema = field(18, field(1, schema));
    const spec = field(2, field(7, field(4, field(1, schema))));
    return requestTo('POST', crds, {
      body: envelope('CustomResourceDefinition', 'apiextensions.k8s.io/v1', spec),
      type: protobuf,
    });
  },
  'protobuf with 49,000 empty fields': () =>
    requestTo('POST', maps, {
      body: envelope('ConfigMap', 'v1', Buffer.concat(many(49_000, () => Buffer.from([0x12, 0])) as Buffer[])),
      type: protobuf,
    }),
  'protobuf with a length beyond its end': () =>
    requestTo('POST', maps, {
      body: envelope('ConfigMap', 'v1', Buffer.from('0affffffffffffffff7f', 'hex')),
      type: protobuf,
    }),
  'protobuf of varints without end': () =>
    requestTo('POST', maps, { body: envelope('ConfigMap', 'v1', Buffer.alloc(1_000_000, 0xff)), type: protobuf }),
  'protobuf with the same map key 16,000 times': () =>
    requestTo('POST', maps, {
      body: envelope(
        'ConfigMap',
        'v1',
        Buffer.concat(many(16_000, () => Buffer.from('12060a0161120162', 'hex')) as Buffer[]),
      ),
      type: protobuf,
    }),
  'protobuf groups in groups': () =>
    requestTo('POST', maps, { body: envelope('ConfigMap', 'v1', Buffer.alloc(500_000, 0x0b)), type: protobuf }),
  'delete options of 49,000 values': () =>
    requestTo('DELETE', `${maps}/none`, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: many(49_000, () => 'All') },
    }),
  'a device class with a long expression': () =>
    requestTo('POST', '/apis/resource.k8s.io/v1/deviceclasses', {
      body: {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceClass',
        metadata: { name: 'bomb' },
        spec: { selectors: [{ cel: { expression: `${'('.repeat(5_000)}true${')'.repeat(5_000)}` } }] },
      },
    }),
  'a webhook configuration with 3,500 rules': () =>
    requestTo('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All', {
      body: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'bomb' },
        webhooks: [
          {
            name: 'a.b.c',
            clientConfig: { url: 'https://127.0.0.1:1/' },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            failurePolicy: 'Ignore',
            rules: many(3_500, () => ({
              apiGroups: ['none'],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: ['a', 'a/b', '*/c'],
            })),
          },
        ],
      },
    }),
  '20,000 webhooks of the same name': () =>
    requestTo('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?dryRun=All', {
      body: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'bomb' },
        webhooks: many(20_000, () => ({ name: 'a' })),
      },
    }),
  'spaces within Accept': () => requestTo('GET', `${maps}/o`, { headers: [['accept', `a${' '.repeat(60_000)}b`]] }),
  'spaces within Content-Type': () => requestTo('PATCH', `${maps}/o`, { body: {}, type: `a${' '.repeat(60_000)}b` }),
  'colons within X-Forwarded-For': () =>
    requestTo('GET', `${maps}/o`, { headers: [['x-forwarded-for', `${':'.repeat(60_000)}x`]] }),
  'slashes within a path': () => requestTo('GET', `/openapi${'/'.repeat(100_000)}x`),
  ...expressionBombs,
};

const deepText = (levels: number): string =>
  Buffer.from(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`).toString('base64url');

const managedFields = (fieldsV1: object): readonly object[] => [
  { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
];

function nestedFields(levels: number): Json {
  let fields: Json = {};
  for (let level = 0; level < levels; level++) fields = { 'f:a': fields };
  return fields;
}

function deepDer(levels: number): Buffer {
  const heads: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < levels; level++) {
    const head =
      length < 128
        ? Buffer.from([0x30, length])
        : length < 256
          ? Buffer.from([0x30, 0x81, length])
          : length < 65_536
            ? Buffer.from([0x30, 0x82, length >> 8, length & 255])
            : Buffer.from([0x30, 0x83, length >> 16, (length >> 8) & 255, length & 255]);
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat(heads.reverse());
}

const pem = (der: Buffer): Buffer =>
  Buffer.from(
    `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE REQUEST-----\n`,
  );

const signingRequest = (bytes: Buffer): object => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'bomb' },
  spec: {
    request: bytes.toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  },
});
