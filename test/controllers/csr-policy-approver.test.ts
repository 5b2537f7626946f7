import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inRange, parseRange } from '../../controllers/csr-policy-approver/address-range.js';
import { csrPolicyApprover } from '../../controllers/csr-policy-approver/csr-policy-approver.js';
import { compilePolicy } from '../../controllers/csr-policy-approver/decide.js';
import { factsOf } from '../../controllers/csr-policy-approver/facts.js';
import { matcher, parsePattern } from '../../controllers/csr-policy-approver/pattern.js';
import {
  type CertificatePolicy,
  type PolicyRule,
  policyProblems,
} from '../../controllers/csr-policy-approver/policy.js';
import { defaultDomains } from '../../src/api/domains.js';
import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
} from '../../src/api/kinds/certificate-signing-request.js';
import { Events } from '../../src/api/kinds/event.js';
import { tags } from '../../src/pki/der.js';
import { derTrue, encode, encodeOid, octetString, sequence } from '../../src/pki/der-writer.js';
import { type TestSigningRequestOptions, testSigningRequest } from '../../src/testing/certificates.js';
import { settled } from '../../src/testing/fake-clock.js';
import { expectShort } from '../processor-time.js';
import { runControllers } from './run-controllers.js';

const signerName = 'example.test/clients';
const usages = ['digital signature', 'client auth'];
const weakKey = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;

type Asking = Partial<TestSigningRequestOptions> & { readonly username?: string; readonly groups?: readonly string[] };

async function request(asking: Asking = {}): Promise<CertificateSigningRequest> {
  const { username = 'alice', groups = ['team-a', 'system:authenticated'], ...options } = asking;
  const csr = await testSigningRequest({ name: 'a', signerName, commonName: username, ...options });
  return { ...csr, spec: { ...csr.spec, username, groups } };
}

const approve: PolicyRule = {
  name: 'team',
  effect: 'approve',
  signers: [signerName],
  requesters: { groups: ['team-*'] },
  usages,
  subject: { commonName: ['{username}'] },
};
const deny: PolicyRule = { name: 'never', effect: 'deny', signers: [signerName] };

const verdict = async (policy: Omit<CertificatePolicy, 'rules'> & { rules: readonly PolicyRule[] }, asking: Asking) => {
  const decision = compilePolicy(policy)(factsOf(await request(asking)));
  return decision.verdict === 'leave'
    ? `leave: ${decision.because.map(({ rule, mismatch }) => `${rule}: ${mismatch}`).join('; ')}`
    : `${decision.verdict} by ${decision.rule}`;
};

describe('patterns', () => {
  test.each([
    ['a.b', 'a.b', true],
    ['a.b', 'a.bc', false],
    ['*.b', 'a.b', true],
    ['*.b', 'a.a.b', false],
    ['**.b', 'a.a.b', true],
    ['*', '', true],
    ['a*c', 'abbc', true],
    ['a*c', 'ab.c', false],
    ['a**c*', 'ab.cd', true],
    ['{username}.b', 'alice.b', true],
    ['{username}', '*', false],
    ['{namespace}', 'x', false],
    ['', '', true],
    ['', 'a', false],
  ])('%j and %j: %s', (pattern, text, expected) => {
    expect(matcher(parsePattern(pattern), { separators: '.', substitutes: { username: 'alice' } })(text)).toBe(
      expected,
    );
  });

  test.each(['{', 'a}', '{nobody}', '***'])('%j is invalid', (text) => {
    expect(() => parsePattern(text)).toThrow();
  });

  test.each([
    ['secret.corp', '*.corp', true],
    ['secret.corp', '*.*', false],
    ['secret.corp', '*', false],
    ['a.b.corp', '*.corp', false],
    ['a.b.corp', '*.b.corp', true],
    ['x*y.corp', '*.corp', true],
    ['**.corp', '*.corp', true],
    ['secret.corp', '*a.corp', false],
    ['secret.corp', 'sec*.corp', true],
    ['secret.corp', '*ret.corp', true],
    ['secret.corp', 's*t.corp', true],
    ['secret.corp', '**.corp', true],
    ['secret.corp', 's*x.corp', false],
    ['secret.corp', 'secret.c*', false],
    ['s*t.corp', 'se*et.corp', true],
    ['*', '*.corp', false],
  ])('%j covers all names of the wildcard %j: %s', (pattern, text, expected) => {
    expect(matcher(parsePattern(pattern), { separators: '.', wildcards: true })(text)).toBe(expected);
  });

  test('match like the equivalent regular expression', () => {
    const piece = fc.constantFrom('a', 'b', '.', '*', '**');
    const pieces = fc.array(piece, { maxLength: 6 }).filter((all) => !all.join('').includes('***'));
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    const meaning: Readonly<Record<string, string>> = { '.': '\\.', '*': '[^.]*', '**': '.*' };
    fc.assert(
      fc.property(pieces, texts, (all, text) => {
        // Adjacent runs are parsed as if they were written as one.
        const parsed = all.join('').match(/\*\*|[ab.*]/g) ?? [];
        const expression = new RegExp(`^${parsed.map((one) => meaning[one] ?? one).join('')}$`);
        expect(matcher(parsePattern(all.join('')), { separators: '.' })(text)).toBe(expression.test(text));
      }),
    );
  });

  test.each([
    ['*a'.repeat(20), 'alice', 100_000],
    ['**{username}', 'a'.repeat(4_096), 65_536],
    ['{username}', 'a*'.repeat(2_048), 65_536],
  ])('match in linear time: %s', async (pattern, username, length) => {
    await expectShort(3_000, () => {
      const fits = matcher(parsePattern(`${pattern}b`), {
        substitutes: { username },
        wildcards: true,
        separators: '.',
      });
      expect(fits('a'.repeat(length))).toBe(false);
      expect(fits(`${'*a'.repeat(length / 2)}.`)).toBe(false);
      for (let i = 0; i < 1_000; i++) expect(fits(`*.x${i}`)).toBe(false);
    });
  });
});

test.each([
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3', '10.1.2.4', false],
  ['192.168.4.0/22', '192.168.7.255', true],
  ['192.168.4.0/22', '192.168.8.0', false],
  ['fd00::/8', 'fd12::1', true],
  ['fd00::/8', '10.0.0.1', false],
  ['0.0.0.0/0', '1.2.3.4', true],
])('range %s contains %s: %s', (range, address, expected) => {
  const parsed = parseRange(range);
  expect(parsed && inRange(parsed, address)).toBe(expected);
});
test.each(['10.0.0.1/8', '10.0.0.0/33', 'x', '10.0.0.0/', '10.0.0.0/8/8', ''])('%j is an invalid range', (text) => {
  expect(parseRange(text)).toBeUndefined();
});

const ca = { oid: '2.5.29.19', critical: true, value: encode(tags.sequence, derTrue) };
const otherName = {
  oid: '2.5.29.17',
  critical: false,
  value: sequence(encode(0xa0, Buffer.concat([encodeOid('1.2.3'), encode(0xa0, octetString(Buffer.from('x')))]))),
};

describe('an approving rule', () => {
  const account = { username: 'system:serviceaccount:shop:web' };
  test.each<[string, Partial<PolicyRule>, Asking, string]>([
    ['matches a request that it allows', {}, {}, 'approve by team'],
    ['applies to its signers only', {}, { signerName: 'example.test/other' }, 'leave: '],
    [
      'may apply to a whole domain of signers',
      { signers: ['example.test/*'] },
      { signerName: 'example.test/other' },
      'approve by team',
    ],
    ['applies to its requesters only', {}, { groups: ['b'] }, 'leave: team: the requester is in none of the groups'],
    [
      'requires both user and group if both are given',
      { requesters: { groups: ['team-a'], usernames: ['bob'] } },
      {},
      'leave: team: the requester is not one of those',
    ],
    [
      "may require the requester's name",
      {},
      { commonName: 'bob' },
      'leave: team: subject commonName "bob" is not allowed',
    ],
    ['requires a common name', {}, { commonName: '' }, 'leave: team: the common name is missing'],
    ['allows a subset of its usages', {}, { usages: ['client auth'] }, 'approve by team'],
    [
      'allows no additional usage',
      {},
      { usages: [...usages, 'server auth'] },
      'leave: team: usage "server auth" is not allowed',
    ],
    [
      'allows no organization by default',
      {},
      { organizations: ['system:masters'] },
      'leave: team: subject organizations "system:masters" is not allowed',
    ],
    [
      'allows the organizations it names',
      { subject: { organizations: ['dev', 'team-*'], commonName: ['*'] } },
      { organizations: ['team-b', 'dev'] },
      'approve by team',
    ],
    ['allows no DNS name by default', {}, { dnsNames: ['a.b'] }, 'leave: team: DNS name "a.b" is not allowed'],
    ['allows no URI by default', {}, { uris: ['spiffe://a/b'] }, 'leave: team: URI "spiffe://a/b" is not allowed'],
    [
      'allows no mail address by default',
      {},
      { emailAddresses: ['a@b'] },
      'leave: team: mail address "a@b" is not allowed',
    ],
    [
      'allows no IP address by default',
      {},
      { ipAddresses: ['10.0.0.1'] },
      'leave: team: IP address "10.0.0.1" is not allowed',
    ],
    [
      'allows every DNS name that it covers',
      { names: { dns: ['*.shop.example'] } },
      { dnsNames: ['a.shop.example', 'B.Shop.example'] },
      'approve by team',
    ],
    [
      'allows no DNS name that it does not cover',
      { names: { dns: ['*.shop.example'] } },
      { dnsNames: ['a.shop.example', 'a.b.shop.example'] },
      'leave: team: DNS name "a.b.shop.example" is not allowed',
    ],
    ...[
      ['kate', 'approve by team'],
      ['Kate', 'leave: team: DNS name "kate.shop.example" is not allowed'],
      // The Kelvin sign, whose lower case is a k.
      ['\u212aate', 'leave: team: DNS name "kate.shop.example" is not allowed'],
    ].map(([username = '', expected = '']): [string, Partial<PolicyRule>, Asking, string] => [
      `takes ${username} for nobody else`,
      { names: { dns: ['{username}.shop.example'] }, subject: { commonName: ['**'] } },
      { username, dnsNames: ['kate.shop.example'] },
      expected,
    ]),
    ...['.shop.example', 'a..shop.example', 'a.shop.example.'].map(
      (name): [string, Partial<PolicyRule>, Asking, string] => [
        `allows no empty label: ${name}`,
        { names: { dns: ['**'] } },
        { dnsNames: [name] },
        `leave: team: DNS name "${name}" is not allowed`,
      ],
    ),
    [
      'allows no wildcard name by default',
      { names: { dns: ['**'] } },
      { dnsNames: ['*.shop.example'] },
      'leave: team: DNS name "*.shop.example" is a wildcard',
    ],
    [
      'allows wildcard names if it says so',
      { names: { dns: ['**'], wildcards: true } },
      { dnsNames: ['*.shop.example'] },
      'approve by team',
    ],
    [
      'allows addresses in its ranges',
      { names: { ip: ['10.0.0.0/8', 'fd00::1'] } },
      { ipAddresses: ['10.2.3.4', 'fd00::1'] },
      'approve by team',
    ],
    [
      'allows no address outside its ranges',
      { names: { ip: ['10.0.0.0/8'] } },
      { ipAddresses: ['10.2.3.4', '11.0.0.1'] },
      'leave: team: IP address "11.0.0.1" is not allowed',
    ],
    [
      'substitutes the namespace and name of a service account',
      { names: { uri: ['spiffe://x/ns/{namespace}/sa/{serviceaccount}'] } },
      { ...account, uris: ['spiffe://x/ns/shop/sa/web'] },
      'approve by team',
    ],
    [
      'does not match other requesters as service accounts',
      { names: { uri: ['spiffe://x/ns/{namespace}/**'] } },
      { uris: ['spiffe://x/ns/shop/sa/web'] },
      'leave: team: URI "spiffe://x/ns/shop/sa/web" is not allowed',
    ],
    [
      'does not take a query for a part of the host',
      { names: { uri: ['https://*.shop.example/**'] } },
      { uris: ['https://a.shop.example/?x', 'https://other.example?.shop.example/'] },
      'leave: team: URI "https://other.example?.shop.example/" is not allowed',
    ],
    [
      'does not take a fragment for a part of the host',
      { names: { uri: ['https://*.shop.example/**'] } },
      { uris: ['https://other.example#.shop.example/'] },
      'leave: team: URI "https://other.example#.shop.example/" is not allowed',
    ],
    ...['..', 'a/../../../other/sa/a', 'a/./b', '%2e%2E/a', '..%2fa', 'a/..', '.\\a', '..?a'].map(
      (rest): [string, Partial<PolicyRule>, Asking, string] => [
        `takes no path for what ${rest} leads away from`,
        { names: { uri: ['spiffe://x/ns/shop/sa/**'] } },
        { uris: [`spiffe://x/ns/shop/sa/${rest}`] },
        `leave: team: URI ${JSON.stringify(`spiffe://x/ns/shop/sa/${rest}`)} is not allowed`,
      ],
    ),
    ...['a%2Fb', 'a%62', 'a\\b'].map((rest): [string, Partial<PolicyRule>, Asking, string] => [
      `takes ${rest} for more than one part`,
      { names: { uri: ['spiffe://x/ns/shop/sa/*'] } },
      { uris: [`spiffe://x/ns/shop/sa/${rest}`] },
      `leave: team: URI ${JSON.stringify(`spiffe://x/ns/shop/sa/${rest}`)} is not allowed`,
    ]),
    [
      'matches URIs as they are spelled',
      { names: { uri: ['https://shop.example/a%20b/...', 'https://shop.example/a/.b./**'] } },
      { uris: ['https://shop.example/a%20b/...', 'https://shop.example/a/.b./%2F'] },
      'approve by team',
    ],
    [
      'refuses a name with a NUL byte',
      { names: { dns: ['**.shop.example'] } },
      { dnsNames: ['other.example\0.shop.example'] },
      'leave: team: a name has a control character',
    ],
    [
      'requires a lifetime if it has a maximum',
      { maxExpirationSeconds: 3_600 },
      {},
      'leave: team: the lifetime is longer than allowed, or not set',
    ],
    [
      'refuses too long a lifetime',
      { maxExpirationSeconds: 3_600 },
      { expirationSeconds: 3_601 },
      'leave: team: the lifetime is longer than allowed, or not set',
    ],
    [
      'allows a short enough lifetime',
      { maxExpirationSeconds: 3_600 },
      { expirationSeconds: 3_600 },
      'approve by team',
    ],
    ['allows the usual keys', {}, { keyType: 'RSA-2048' }, 'approve by team'],
    ['allows no weak keys', {}, { key: weakKey }, 'leave: team: a key of RSA with 1024 bits is not allowed'],
    [
      'allows only the keys it names',
      { keys: [{ type: 'ECDSA', minBits: 384 }] },
      {},
      'leave: team: a key of ECDSA with 256 bits is not allowed',
    ],
    ['may allow Ed25519', { keys: [{ type: 'Ed25519' }] }, { keyType: 'Ed25519' }, 'approve by team'],
    ['refuses a request for a CA', {}, { extensions: [ca] }, 'leave: team: the request asks for a CA'],
    [
      'refuses a name of an unknown type',
      {},
      { extensions: [otherName] },
      'leave: team: an alternative name is of a kind other than DNS, IP, mail and URI',
    ],
    [
      'refuses an unknown extension',
      {},
      { extensions: [{ oid: '1.2.3', critical: false, value: Buffer.alloc(0) }] },
      'leave: team: the request asks for the extension 1.2.3',
    ],
  ])('%s', async (_, rule, asking, expected) => {
    const groups = 'username' in asking ? { groups: ['team-x'] } : {};
    expect(await verdict({ rules: [{ ...approve, ...rule }] }, { ...groups, ...asking })).toBe(expected);
  });
});

describe('a denying rule', () => {
  test.each<[string, Partial<PolicyRule>, Asking, string]>([
    ['without conditions matches everything of its signers', {}, {}, 'deny by never'],
    [
      'matches if one of the names matches',
      { names: { dns: ['**.internal'] } },
      { dnsNames: ['a.b', 'x.y.INTERNAL'] },
      'deny by never',
    ],
    [
      'does not match other names',
      { names: { dns: ['**.internal'] } },
      { dnsNames: ['a.b'] },
      'leave: never: no DNS name is named',
    ],
    [
      'matches a requested group',
      { subject: { organizations: ['system:**'] } },
      { organizations: ['a', 'system:masters'] },
      'deny by never',
    ],
    [
      'matches user names regardless of case',
      { names: { dns: ['{username}.example'] } },
      { username: 'Kate', dnsNames: ['kate.example'] },
      'deny by never',
    ],
    ['matches weak keys', { keys: [{ type: 'RSA', maxBits: 2_048 }] }, { keyType: 'RSA-2048' }, 'deny by never'],
    [
      'does not match strong keys',
      { keys: [{ type: 'RSA', maxBits: 2_048 }] },
      {},
      'leave: never: the key is not one of those',
    ],
    ['matches a request without a lifetime', { maxExpirationSeconds: 600 }, {}, 'deny by never'],
    [
      'does not match a short enough lifetime',
      { maxExpirationSeconds: 600 },
      { expirationSeconds: 600 },
      'leave: never: the lifetime is short enough',
    ],
    [
      'matches only if all its conditions do',
      { usages: ['server auth'], names: { dns: ['a'] } },
      { dnsNames: ['a'] },
      'leave: never: no usage is named',
    ],
    [
      'matches hosts and domains regardless of case',
      { names: { uri: ['https://shop.example/**'] } },
      { uris: ['HTTPS://Shop.example/a'] },
      'deny by never',
    ],
    [
      'matches paths exactly',
      { names: { uri: ['https://shop.example/a'] } },
      { uris: ['https://shop.example/A'] },
      'leave: never: no URI is named',
    ],
    [
      'matches domains of mail addresses regardless of case',
      { names: { email: ['*@CORP.example'] } },
      { emailAddresses: ['ceo@corp.Example'] },
      'deny by never',
    ],
    [
      'matches a wildcard that covers a denied name',
      { names: { dns: ['secret.corp.example'] } },
      { dnsNames: ['*.corp.example'] },
      'deny by never',
    ],
    ...[
      ['email', '{username}@example.com', 'Bob', 'Bob@EXAMPLE.com'],
      ['email', '{username}', 'Bob@example.com', 'Bob@EXAMPLE.com'],
      ['email', 'Ceo**corp.example', 'bob', 'Ceo@CORP.example'],
      ['uri', 'spiffe://example.com/u/{username}', 'Bob', 'spiffe://EXAMPLE.com/u/Bob'],
      ['uri', '**//Shop.example/**', 'bob', 'https://shop.example/a'],
      ['dns', '{namespace}.svc', 'system:serviceaccount:Foo:x', 'foo.svc'],
    ].map(([sort = '', pattern = '', username = '', value = '']): [string, Partial<PolicyRule>, Asking, string] => [
      `matches ${value} by ${pattern}`,
      { names: { [sort]: [pattern] } },
      { username, [{ email: 'emailAddresses', uri: 'uris' }[sort] ?? 'dnsNames']: [value] },
      'deny by never',
    ]),
    [
      'matches a denied name among too many names',
      { names: { dns: ['secret'] } },
      { dnsNames: ['secret', ...Array.from({ length: 1_000 }, (_, at) => `a${at}`)] },
      'deny by never',
    ],
    [
      'leaves a request with too many names to a person',
      { names: { dns: ['secret'] } },
      { dnsNames: Array.from({ length: 40 }, (_, at) => `${'a'.repeat(2_000)}${at}`) },
      'leave: never: the 40 of DNS name are too long',
    ],
    ...[
      'spiffe://x/ns/kube%2Dsystem/sa/a',
      'spiffe://x/ns/%6Bube-system%2fsa/a',
      'spiffe://x/ns/shop/../kube-system/sa/a',
      'spiffe://x/./ns/./kube-system/',
      'spiffe://x//ns//kube-system/sa/a',
      'spiffe://x/ns/shop/%2e%2E/kube-system/.',
      'spiffe://X:/ns/kube-system/sa/a?b',
      'spiffe://x:443/ns/kube-system/sa/a',
      'spiffe://a:b@x/ns/kube-system/sa/a',
    ].map((uri): [string, Partial<PolicyRule>, Asking, string] => [
      `matches ${uri}`,
      { names: { uri: ['spiffe://x/ns/kube-system/**'] } },
      { uris: [uri] },
      'deny by never',
    ]),
    ...['urn:a:1:%2e', 'spiffe://x/ns/kube-system', 'spiffe://x/ns/kube-systems/sa/a', 'a/..'].map(
      (uri): [string, Partial<PolicyRule>, Asking, string] => [
        `leaves ${uri}`,
        { names: { uri: ['spiffe://x/ns/kube-system/**'] } },
        { uris: [uri] },
        'leave: never: no URI is named',
      ],
    ),
    [
      'is not bypassed with a query',
      { names: { uri: ['https://shop.example/*'] } },
      { uris: ['https://shop.example/a?b'] },
      'deny by never',
    ],
  ])('%s', async (_, rule, asking, expected) => {
    expect(await verdict({ rules: [{ ...deny, ...rule }] }, asking)).toBe(expected);
  });
});

describe('a policy', () => {
  test('the first matching rule decides', async () => {
    const never = { ...deny, names: { dns: ['**'] } };
    const open = { ...approve, names: { dns: ['**'] } };
    expect(await verdict({ rules: [never, open] }, { dnsNames: ['a'] })).toBe('deny by never');
    expect(await verdict({ rules: [open, never] }, { dnsNames: ['a'] })).toBe('approve by team');
  });

  test('its default applies to the signers that its rules name', async () => {
    const policy = { default: 'deny', rules: [approve] } as const;
    expect(await verdict(policy, { groups: [] })).toBe('deny by undefined');
    expect(await verdict(policy, { signerName: 'kubernetes.io/kubelet-serving' })).toBe('leave: ');
  });

  test('applies to a well-known signer under all its names', async () => {
    const rules = [{ ...deny, signers: ['kubernetes.io/kube-apiserver-client'] }];
    const asking = { signerName: 'kubernetes.io/apiserver-client' };
    expect(await verdict({ rules }, asking)).toBe('deny by never');
    const facts = factsOf(await request({ signerName: 'pki.example/apiserver-client' }));
    const domains = { ...defaultDomains, signer: 'pki.example' };
    const other = [{ ...deny, signers: ['pki.example/kube-apiserver-client'] }];
    expect(compilePolicy({ rules: other }, { domains })(facts).verdict).toBe('deny');
    expect(compilePolicy({ rules: other })(facts).verdict).toBe('leave');
  });

  test('its default also applies to requests with too many names to check', async () => {
    const dnsNames = Array.from({ length: 1_001 }, (_, at) => `a${at}`);
    const rules = [
      { ...deny, names: { dns: ['secret'] } },
      { ...approve, names: { dns: ['**'] } },
    ];
    expect(await verdict({ default: 'deny', rules }, { dnsNames })).toBe('deny by undefined');
    expect(await verdict({ rules }, { dnsNames })).toMatch(/^leave: never: there are more than 1000/);
  });

  test('an expression is an additional condition; one that fails decides nothing', async () => {
    const facts = factsOf(await request());
    const asked: string[] = [];
    const compile = (text: string) => {
      if (text === 'nonsense') throw new Error('no such word');
      return ({ username }: { readonly username: string }) => {
        asked.push(username);
        if (text === 'fail') throw new Error('too costly');
        return text === 'true';
      };
    };
    const say = (expression: string) =>
      compilePolicy({ rules: [{ ...approve, expression }, deny] }, { expressions: compile })(facts);
    expect(say('true').verdict).toBe('approve');
    expect(say('false').verdict).toBe('deny');
    expect(say('fail')).toEqual({
      verdict: 'leave',
      because: [{ rule: 'team', mismatch: 'the expression failed: too costly' }],
    });
    expect(() => say('nonsense')).toThrow('certificate policy: rules[0].expression: no such word');
    expect(asked).toEqual(['alice', 'alice', 'alice']);
  });

  test.each<[Partial<PolicyRule>, string]>([
    [{ name: '' }, 'rules[0].name: must not be empty'],
    [{ signers: [] }, 'rules[0].signers: must name a signer'],
    [{ signers: ['*'] }, 'rules[0].signers[0]: must be a signer name, or domain/*, not "*"'],
    [{ requesters: {} }, 'rules[0].requesters: required in a rule that approves'],
    [{ usages: ['fly'] }, 'rules[0].usages: "fly" is not a usage'],
    [{ names: { ip: ['10.0.0.1/8'] } }, 'rules[0].names.ip: "10.0.0.1/8" is neither an address nor a range'],
    [
      { names: { dns: ['{me}'] } },
      'rules[0].names.dns: "{me}": braces must contain one of username, namespace, serviceaccount',
    ],
    [{ keys: [{ type: 'RSA', minBits: 2, maxBits: 1 }] }, 'rules[0].keys: minBits is above maxBits'],
    [{ expression: 'true' }, 'rules[0].expression: expressions are not supported here'],
  ])('is refused with %j', (rule, problem) => {
    expect(policyProblems({ rules: [{ ...approve, ...rule }] })).toEqual([problem]);
  });
  test('is refused with duplicate rule names', () => {
    expect(policyProblems({ rules: [approve, approve] })).toEqual(['rules[1].name: duplicate rule "team"']);
    // From a program without types: an unknown word is not a permission.
    expect(policyProblems({ mode: 'shadwo' as 'shadow', rules: [approve] })).toEqual([
      'mode: must be one of enforce, shadow, not "shadwo"',
    ]);
    const misspelt = { ...approve, expresion: 'false' };
    expect(policyProblems({ rules: [misspelt] })).toEqual(['rules[0].expresion: is unknown']);
  });
});

describe('csr-policy-approver', () => {
  async function start(policy: CertificatePolicy, asking: Asking = {}) {
    const world = await runControllers([csrPolicyApprover({ policy })]);
    const requests = world.client.resource(CertificateSigningRequests);
    await requests.create(await request(asking));
    await settled();
    const conditions = (await requests.get({ name: 'a' }))?.status?.conditions;
    const events = (await world.client.resource(Events).list()).items;
    await world.stop();
    return { conditions, events, writes: world.client.writes };
  }

  test('approves with the name of the rule', async () => {
    const { conditions, writes, events } = await start({ rules: [approve] });
    const message = 'Approved by rule "team" of the certificate policy.';
    expect(conditions).toEqual([{ type: 'Approved', status: 'True', reason: 'PolicyApproved', message }]);
    expect(writes).toEqual(['create certificatesigningrequests a', 'update certificatesigningrequests/approval a']);
    expect(events).toEqual([]);
  });

  test('denies with the name of the rule', async () => {
    const message = 'Denied by rule "never" of the certificate policy.';
    const { conditions } = await start({ rules: [deny] });
    expect(conditions).toEqual([{ type: 'Denied', status: 'True', reason: 'PolicyDenied', message }]);
  });

  test('leaves other requests undecided', async () => {
    expect((await start({ rules: [approve] }, { groups: [] })).conditions).toBeUndefined();
  });

  test('only records its decisions in shadow mode', async () => {
    const { conditions, events } = await start({ mode: 'shadow', rules: [approve] });
    expect(conditions).toBeUndefined();
    expect(events).toMatchObject([
      {
        reason: 'PolicyWouldApprove',
        message: 'Shadow: Approved by rule "team" of the certificate policy.',
        involvedObject: { kind: 'CertificateSigningRequest', name: 'a' },
      },
    ]);
  });
});
