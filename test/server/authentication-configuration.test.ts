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

test('a typical file is read', async () => {
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

test('the CA of an issuer is read', async () => {
  const { anchors } = await testAuthority();
  await readJson(jwt({}, { certificateAuthority: anchors }));
});

test('a file without options is valid', async () => {
  expect((await read(head)).jwt ?? []).toEqual([]);
});

const mapped = (more: object) => jwt({ claimMappings: { ...claimMappings, ...more } });
const named = (expression: string, more: object = {}) => jwt({ claimMappings: { username: { expression } }, ...more });
const unverified =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';
describe('errors are reported with their field', () => {
  test.each<[object, string]>([
    [jwt({}, { url: '' }), 'jwt[0].issuer.url: Required value'],
    [
      jwt({}, { url: 'http://a.example.org' }),
      'jwt[0].issuer.url: Invalid value: "http://a.example.org": URL scheme must be https',
    ],
    ...['https://a.example/%zz', 'a', '//a.example'].map((url): [object, string] => [
      jwt({}, { url }),
      `jwt[0].issuer.url: Invalid value: "${url}": ${url.includes('%') ? `parse "${url}": invalid URL escape "%zz"` : 'URL scheme must be https'}`,
    ]),
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
    [jwt({}, { url: '::' }), 'jwt[0].issuer.url: Invalid value: "::": parse "::": missing protocol scheme'],
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
      named('claims.'),
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8: Syntax error',
    ],
    [named('user.username'), "compilation failed: ERROR: <input>:1:1: undeclared reference to 'user'"],
    [
      jwt({ claimMappings: { username: { claim: 'sub', expression: 'claims.sub' } } }),
      'jwt[0].claimMappings.username: Invalid value: "": claim and expression can\'t both be set',
    ],
    [
      jwt({ claimMappings: { username: { expression: 'claims.sub', prefix: '' } } }),
      'jwt[0].claimMappings.username.prefix: Invalid value: "": may not be specified when expression is set',
    ],
    [named('claims.email'), `jwt[0].claimMappings.username.expression: Invalid value: "claims.email": ${unverified}`],
    [named('[1].map(claims, .claims.email)[0]'), unverified],
    [named('claims.?email.orValue("")'), unverified],
    [named('has(claims.email) ? "a" : "b"'), unverified],
    [named('["a"].map(x, x + claims.email)[0]'), unverified],
    [
      jwt({ claimMappings: { ...claimMappings, groups: { claim: 'g' } } }),
      'jwt[0].claimMappings.groups.prefix: Required value',
    ],
    [
      mapped({ groups: { claim: 'g', expression: 'claims.g' } }),
      'jwt[0].claimMappings.groups: Invalid value: "": claim and expression can\'t both be set',
    ],
    [
      mapped({ groups: { expression: 'claims.g.map(x, x)' } }),
      "expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
    [mapped({ uid: { expression: 'x' } }), 'jwt[0].claimMappings.uid.expression: Invalid value: "x": compilation'],
    [mapped({ uid: { claim: 'x', expression: 'y' } }), 'jwt[0].claimMappings.uid: Invalid value: "": claim and'],
    [
      mapped({
        extra: [
          { valueExpression: '"x"' },
          { key: 'foo', valueExpression: '"x"' },
          { key: 'a_b/x y', valueExpression: '"x"' },
          { key: 'a.io/X', valueExpression: '"x"' },
          { key: 'kubernetes.io/x', valueExpression: '"x"' },
          { key: 'x.k8s.io/x', valueExpression: '"x"' },
          { key: 'a.io/x' },
          { key: 'a.io/x', valueExpression: '"x"' },
          { key: 'a.io/y', valueExpression: 'y' },
        ],
      }),
      [
        'extra[0].key: Required value',
        'extra[1].key: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")',
        "extra[2].key: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        "extra[2].key: Invalid value: \"x y\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
        'extra[3].key: Invalid value: "a.io/X": must be lowercase',
        'extra[4].key: Invalid value: "kubernetes.io/x": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
        'extra[5].key: Invalid value: "x.k8s.io/x": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
        'extra[6].valueExpression: Required value',
        'extra[7].key: Duplicate value: "a.io/x"',
        'extra[8].valueExpression: Invalid value: "y": compilation failed: ',
      ]
        .map((text) => `jwt[0].claimMappings.${text}`)
        .join('; '),
    ],
    [
      jwt({ claimValidationRules: [{}] }),
      'jwt[0].claimValidationRules[0]: Required value: claim or expression is required',
    ],
    [
      jwt({ claimValidationRules: [{ claim: 'a', expression: 'true' }] }),
      'jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can\'t both be set',
    ],
    [
      jwt({
        claimValidationRules: [
          { expression: 'true', requiredValue: 'x' },
          { expression: 'true' },
          { expression: 'claims.x' },
        ],
      }),
      [
        'claimValidationRules[0].requiredValue: Invalid value: "x": may not be specified when expression is set',
        'claimValidationRules[1].expression: Duplicate value: "true"',
        'claimValidationRules[2].expression: Invalid value: "claims.x": must evaluate to bool',
      ]
        .map((text) => `jwt[0].${text}`)
        .join('; '),
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
      jwt({ userValidationRules: [{}, { expression: 'true' }, { expression: 'true' }, { expression: 'user.uid' }] }),
      [
        'userValidationRules[0].expression: Required value',
        'userValidationRules[2].expression: Duplicate value: "true"',
        'userValidationRules[3].expression: Invalid value: "user.uid": must evaluate to bool',
      ]
        .map((text) => `jwt[0].${text}`)
        .join('; '),
    ],
    [
      { anonymous: { enabled: false, conditions: [{ path: '/x' }] } },
      'anonymous.conditions: Invalid value: [{"Path":"/x"}]: enabled should be set to true when conditions are defined',
    ],
    [{ jwt: Array.from({ length: 65 }, () => jwt().jwt[0]) }, 'jwt: Too many: 65: must have at most 64 items'],
    [{ jwts: [] }, 'strict decoding error: unknown field "jwts"'],
    [{ jwt: 'x' }, 'json: cannot unmarshal string into Go'],
    [
      { kind: 'Other' },
      'must be AuthenticationConfiguration of apiserver.config.k8s.io/v1, not Other of apiserver.config.k8s.io/v1',
    ],
    [{ apiVersion: 'v1' }, 'not AuthenticationConfiguration of v1'],
  ])('%j', async (configuration, message) => {
    await expect(readJson(configuration)).rejects.toThrow(message);
  });

  test.each<[string, object]>([
    [
      'a rule with a comparison',
      { claimValidationRules: [{ expression: 'claims.?email_verified.orValue(true) == true' }] },
    ],
    ['a rule with has()', { claimValidationRules: [{ expression: 'has(claims.email_verified)' }] }],
  ])('claims.email is accepted as a username if %s checks email_verified', async (_what, more) => {
    await readJson(named('claims.email', more));
  });

  test('claims.email is accepted as a username if a mapping uses email_verified', async () => {
    const extra = [{ key: 'a.io/b', valueExpression: 'string(claims.email_verified)' }];
    await readJson(jwt({ claimMappings: { username: { expression: 'claims.email' }, extra } }));
    await readJson(named('claims.email_verified == true ? claims.email : claims.sub'));
  });

  test('a duplicate field', async () => {
    await expect(read(`${head}jwt: []\njwt: []\n`)).rejects.toThrow('strict decoding error');
  });

  test.each(['a,b\n', '[]', '', 'null'])('%j is not a configuration', async (text) => {
    await expect(read(text)).rejects.toThrow(
      'must be AuthenticationConfiguration of apiserver.config.k8s.io/v1, not nothing of nothing',
    );
  });

  test('invalid YAML', async () => {
    await expect(read('{')).rejects.toThrow();
  });
});
