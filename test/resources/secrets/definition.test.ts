import { expect, test } from 'vitest';
import { secretDefinition } from '../../../src/resources/secrets/definition.js';
import { cells, read, write } from '../write.js';

const secrets = secretDefinition();

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('stringData overrides data, and is never returned', () => {
  const { object } = write(secrets, { data: { k: base64('1'), l: base64('1') }, stringData: { k: '2', u: '\u00e4' } });
  expect(object['data']).toEqual({ k: base64('2'), l: base64('1'), u: base64('\u00e4') });
  expect(object).not.toHaveProperty('stringData');
});

test('keys such as __proto__ are ordinary keys', () => {
  const body = JSON.parse('{"stringData":{"__proto__":"1","constructor":"2"}}');
  const data = write(secrets, body).object['data'] as object;
  expect(Object.entries(data)).toEqual([
    ['__proto__', base64('1')],
    ['constructor', base64('2')],
  ]);
});

test('the type defaults to Opaque, and is immutable', () => {
  expect(write(secrets, {}).object['type']).toBe('Opaque');
  expect(write(secrets, {}, { type: 'example.com/t' }).violations).toEqual([
    'type: Invalid value: "Opaque": field is immutable',
  ]);
  expect(write(secrets, { type: 'example.com/t' }, { type: 'example.com/t' }).violations).toEqual([]);
});

test.each([
  ['tls', {}, ['data[tls.crt]: Required value', 'data[tls.key]: Required value']],
  ['tls', { 'tls.crt': '' }, ['data[tls.key]: Required value']],
  ['tls', { 'tls.crt': '', 'tls.key': '' }, []],
  ['basic-auth', {}, ['data[username]: Required value', 'data[password]: Required value']],
  ['basic-auth', { password: '' }, []],
  ['ssh-auth', { 'ssh-privatekey': '' }, ['data[ssh-privatekey]: Required value']],
  ['ssh-auth', { 'ssh-privatekey': base64('k') }, []],
  ['dockercfg', {}, ['data[.dockercfg]: Required value']],
  ['dockercfg', { '.dockercfg': base64('{}') }, []],
  ['dockercfg', { '.dockercfg': base64('null') }, []],
  [
    'dockerconfigjson',
    { '.dockerconfigjson': base64('nope') },
    [
      "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid character 'o' in literal null (expecting 'u')",
    ],
  ],
  [
    'dockerconfigjson',
    { '.dockerconfigjson': base64('9007199254740993') },
    [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal number into Go value of type map[string]interface {}',
    ],
  ],
  [
    'dockerconfigjson',
    { '.dockerconfigjson': base64('[1]') },
    [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  ],
  [
    'dockerconfigjson',
    { '.dockerconfigjson': '' },
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
  ],
])('kubernetes.io/%s with %j', (type, data, violations) => {
  expect(write(secrets, { type: `kubernetes.io/${type}`, data }).violations).toEqual(violations);
});

test('a service account token Secret requires the annotation of its account, on update too', () => {
  const missing = ['metadata.annotations[kubernetes.io/service-account.name]: Required value'];
  const type = 'kubernetes.io/service-account-token';
  const named = { metadata: { name: 'x', annotations: { 'kubernetes.io/service-account.name': 'a' } }, type };
  expect(write(secrets, { type }).violations).toEqual(missing);
  expect(write(secrets, named).violations).toEqual([]);
  expect(write(secrets, { type }, named).violations).toEqual(missing);
});

test('violations are in order: type, immutable, contents, keys, size, those of the type', () => {
  const stored = { type: 'a', immutable: true, data: { k: 'AA==' } };
  const data = { 'a/b': '', big: Buffer.alloc(1_048_577).toString('base64') };
  const fields = write(secrets, { type: 'kubernetes.io/tls', data }, stored).violations.map(
    (text) => text.split(':')[0],
  );
  expect(fields).toEqual(['type', 'immutable', 'data', 'data[a/b]', 'data', 'data[tls.crt]', 'data[tls.key]']);
});

test('contents of exactly 1 MiB are valid', () => {
  expect(write(secrets, { data: { a: Buffer.alloc(1_048_576).toString('base64') } }).violations).toEqual([]);
});

test('a null in data becomes an empty value', () => {
  expect(write(secrets, { data: { k: null } }).object['data']).toEqual({ k: '' });
});

test('a TLS Secret without a valid pair draws a warning', () => {
  const data = { 'tls.crt': '', 'tls.key': '' };
  expect(write(secrets, { type: 'kubernetes.io/tls', data }).warnings).toEqual([
    'tls: failed to find any PEM data in certificate input',
  ]);
  expect(write(secrets, { data }).warnings).toEqual([]);
});

test('selector and table', () => {
  expect(secrets.selectableFields?.['type']?.(read(secrets, {}))).toBe('Opaque');
  expect(cells(secrets, { type: 'example.com/t', data: { a: '' } })).toMatchObject({ Type: 'example.com/t', Data: 1 });
});
