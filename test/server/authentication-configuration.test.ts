import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { readAuthenticationConfiguration } from '../../src/server/authentication-configuration.js';
import { testAuthority } from '../../src/testing/certificates.js';

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n';
const read = (text: string) =>
  readAuthenticationConfiguration(text, { domains: defaultDomains, ownIssuers: ['https://own.example.org'] });
const readJson = (more: object) =>
  read(JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', ...more }));

const issuer = { url: 'https://a.example.org', audiences: ['x'] };
const claimMappings = { username: { claim: 'sub', prefix: '' } };
const jwt = (more: object = {}, ofIssuer: object = {}) => ({
  jwt: [{ issuer: { ...issuer, ...ofIssuer }, claimMappings, ...more }],
});

test('a file as people write it', async () => {
  const found = await read(`${head}
jwt:
- issuer:
    url: https://login.example.org
    audiences: [kedge, other]
    audienceMatchPolicy: MatchAny
  claimValidationRules:
  - { claim: hd, requiredValue: example.org }
  claimMappings:
    username: { claim: email, prefix: "" }
    groups: { claim: groups, prefix: "login:" }
    uid: { claim: oid }
anonymous:
  enabled: true
  conditions:
  - path: /livez
`);
  expect(found.anonymous).toEqual({ enabled: true, conditions: [{ path: '/livez' }] });
  expect(found.jwt).toEqual([
    {
      issuer: {
        url: 'https://login.example.org',
        audiences: ['kedge', 'other'],
        audienceMatchPolicy: 'MatchAny',
      },
      claimValidationRules: [{ claim: 'hd', requiredValue: 'example.org' }],
      claimMappings: {
        username: { claim: 'email', prefix: '' },
        groups: { claim: 'groups', prefix: 'login:' },
        uid: { claim: 'oid' },
      },
    },
  ]);
});

test('the CA of an issuer', async () => {
  const { anchors } = await testAuthority();
  await readJson(jwt({}, { certificateAuthority: anchors }));
});

test('nothing but the head', async () => {
  expect((await read(head)).jwt ?? []).toEqual([]);
});

const expression = 'Forbidden: expressions are not supported; use claim';
describe('what is wrong is told by its field', () => {
  test.each<[object, string]>([
    [jwt({}, { url: '' }), 'jwt[0].issuer.url: Required value'],
    [
      jwt({}, { url: 'http://a.example.org' }),
      'jwt[0].issuer.url: Invalid value: "http://a.example.org": URL scheme must be https',
    ],
    [
      jwt({}, { url: 'https://u:p@a.example.org' }),
      'jwt[0].issuer.url: Invalid value: "https://u:p@a.example.org": URL must not contain a username or password',
    ],
    [
      jwt({}, { url: 'https://a.example.org?x=y' }),
      'jwt[0].issuer.url: Invalid value: "https://a.example.org?x=y": URL must not contain a query',
    ],
    [
      jwt({}, { url: 'https://a.example.org#x' }),
      'jwt[0].issuer.url: Invalid value: "https://a.example.org#x": URL must not contain a fragment',
    ],
    [jwt({}, { url: '::' }), 'jwt[0].issuer.url: Invalid value: "::": parse "::": invalid URL'],
    [
      jwt({}, { url: 'https://own.example.org' }),
      'jwt[0].issuer.url: Invalid value: "https://own.example.org": URL must not overlap with disallowed issuers: [https://own.example.org]',
    ],
    [
      jwt({}, { discoveryURL: 'https://a.example.org/' }),
      'jwt[0].issuer.discoveryURL: Invalid value: "https://a.example.org/": discoveryURL must be different from URL',
    ],
    [
      jwt({}, { audiences: [] }),
      'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required',
    ],
    [
      jwt({}, { audiences: ['x', 'y'] }),
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    ],
    [
      jwt({}, { audiences: ['x', 'x', ''], audienceMatchPolicy: 'MatchAny' }),
      'jwt[0].issuer.audiences[1]: Duplicate value: "x"; jwt[0].issuer.audiences[2]: Required value',
    ],
    [
      jwt({}, { audienceMatchPolicy: 'All' }),
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "All": audienceMatchPolicy must be empty or MatchAny for single audience',
    ],
    [jwt({}, { certificateAuthority: 'x' }), 'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>"'],
    [{ jwt: [...jwt().jwt, ...jwt().jwt] }, 'jwt[1].issuer.url: Duplicate value: "https://a.example.org"'],
    [jwt({ claimMappings: {} }), 'jwt[0].claimMappings.username: Required value: claim or expression is required'],
    [
      jwt({ claimMappings: { username: { claim: 'sub' } } }),
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    ],
    [
      jwt({ claimMappings: { username: { expression: 'claims.sub' } } }),
      `jwt[0].claimMappings.username.expression: ${expression}`,
    ],
    [
      jwt({ claimMappings: { ...claimMappings, groups: { claim: 'g' } } }),
      'jwt[0].claimMappings.groups.prefix: Required value',
    ],
    [
      jwt({ claimMappings: { ...claimMappings, uid: { expression: 'x' } } }),
      `jwt[0].claimMappings.uid.expression: ${expression}`,
    ],
    [
      jwt({ claimMappings: { ...claimMappings, extra: [{ key: 'a/b', valueExpression: 'x' }] } }),
      'jwt[0].claimMappings.extra[0].valueExpression: Forbidden: expressions are not supported',
    ],
    [
      jwt({ claimValidationRules: [{}] }),
      'jwt[0].claimValidationRules[0]: Required value: claim or expression is required',
    ],
    [
      jwt({ claimValidationRules: [{ expression: 'true' }] }),
      `jwt[0].claimValidationRules[0].expression: ${expression}`,
    ],
    [
      jwt({ claimValidationRules: [{ claim: 'a' }, { claim: 'a' }] }),
      'jwt[0].claimValidationRules[1].claim: Duplicate value: "a"',
    ],
    [
      jwt({ claimValidationRules: [{ claim: 'a', message: 'm' }] }),
      'jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set',
    ],
    [
      jwt({ userValidationRules: [{ expression: 'x' }] }),
      'jwt[0].userValidationRules[0].expression: Forbidden: expressions are not supported',
    ],
    [
      { anonymous: { enabled: false, conditions: [{ path: '/x' }] } },
      'anonymous.conditions: Invalid value: [{"path":"/x"}]: enabled should be set to true when conditions are defined',
    ],
    [{ jwt: Array.from({ length: 65 }, () => jwt().jwt[0]) }, 'jwt: Too many: 65: must have at most 64 items'],
    [{ jwts: [] }, 'strict decoding error: unknown field "jwts"'],
    [{ jwt: 'x' }, 'json: cannot unmarshal string into Go'],
    [
      { kind: 'Other' },
      'must be an AuthenticationConfiguration of apiserver.config.k8s.io/v1, not Other of apiserver.config.k8s.io/v1',
    ],
    [{ apiVersion: 'v1' }, 'not AuthenticationConfiguration of v1'],
  ])('%j', async (configuration, message) => {
    await expect(readJson(configuration)).rejects.toThrow(message);
  });

  test('a member that stands there twice', async () => {
    await expect(read(`${head}jwt: []\njwt: []\n`)).rejects.toThrow('strict decoding error');
  });

  test.each(['a,b\n', '[]', '', 'null'])('%j is no configuration', async (text) => {
    await expect(read(text)).rejects.toThrow(
      'must be an AuthenticationConfiguration of apiserver.config.k8s.io/v1, not nothing of nothing',
    );
  });

  test('what is no YAML', async () => {
    await expect(read('{')).rejects.toThrow();
  });
});
