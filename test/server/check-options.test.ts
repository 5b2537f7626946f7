import { describe, expect, test } from 'vitest';
import { createServer } from '../../src/embed.js';
import { checkOptions } from '../../src/server/check-options.js';
import type { ServerOptions } from '../../src/server/options.js';
import { testServer } from '../../src/testing/index.js';

const check = (options: unknown) => () => checkOptions(options as ServerOptions);
const file = { file: 'a' };

describe('server options', () => {
  test.each<[unknown, string]>([
    [null, 'the options of a server must be an object, not null'],
    ['memory:', 'the options of a server must be an object, not "memory:"'],
    [{ stroe: 'memory:' }, 'option stroe is unknown'],
    [
      { store: 5 },
      'option store must be an address, or a store with the methods get, scan, commit, changes, revision, close, not 5',
    ],
    [
      { store: {} },
      'option store must be an address, or a store with the methods get, scan, commit, changes, revision, close, not an object',
    ],
    [{ store: null }, 'revision, close, not null'],
    [{ controllers: 'none' }, 'option controllers must be \'all\' or a list of names, not "none"'],
    [{ controllers: [5] }, 'option controllers[0] must be a text that is not empty, not 5'],
    [{ domains: {} }, 'option domains.api is missing'],
    [
      { domains: { api: 'a b', signer: 'b.io', extensions: ['x'] } },
      'option domains.api must be a DNS name, not "a b"',
    ],
    [{ signingSeconds: 0 }, 'option signingSeconds must be a whole number of at least 600, not 0'],
    [{ domains: { api: 'a.io', signer: 'b.io' } }, 'option domains.extensions is missing'],
    [
      { domains: { api: 'a.io', signer: 'b.io', extensions: [] } },
      'option domains.extensions must be a list that is not empty, not an empty list',
    ],
    [{ listen: { port: 'x' } }, 'option listen.port must be a whole number from 0 to 65535, not "x"'],
    [{ listen: { port: 70_000 } }, 'option listen.port must be a whole number from 0 to 65535, not 70000'],
    [{ listen: { http2: 'no' } }, 'option listen.http2 must be true or false, not "no"'],
    [{ listen: { prot: 1 } }, 'option listen.prot is unknown'],
    [
      { listen: { servingNames: ['a.test', 'a.test:6443'] } },
      'option listen.servingNames[1] must be a DNS name or an IP address, not "a.test:6443"',
    ],
    [{ listen: { serving: { certificateFile: 'c' } } }, 'option listen.serving.keyFile is missing'],
    [{ listen: true }, 'option listen must be an object, not true'],
    [
      { listen: { limits: { idleMs: Number.NaN } } },
      'option listen.limits.idleMs must be a whole number from 100 to 86400000, not NaN',
    ],
    [{ featureGates: { Sharded: true } }, 'option featureGates.Sharded is unknown'],
    [
      { featureGates: { ShardedListAndWatch: 'yes' } },
      'option featureGates.ShardedListAndWatch must be true or false, not "yes"',
    ],
    [{ signers: {} }, 'option signers must be a list, not an object'],
    [{ signers: [{}] }, 'option signers[0] must be a signer with the method sign, not an object'],
    [
      { signers: [{ serves: 'a.test/x', sign: () => {}, stop: true }] },
      'option signers[0].stop must be a function, not true',
    ],
    [
      { signers: [{ serves: 'nonsense', sign: () => {} }] },
      'option signers[0].serves must be a signer name, or domain/*, not "nonsense"',
    ],
    [
      { log: console.log },
      'option log must be a logger with the methods debug, info, warn, error, child, not a function',
    ],
    [{ clock: Date }, 'option clock must be a clock with the methods now, monotonic, sleep, not a function'],
    [
      { authorization: ['rbac'] },
      'option authorization[0] must be one of Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny, not "rbac"',
    ],
    [{ anonymous: 'no' }, 'option anonymous must be true, false, or an object with paths, not "no"'],
    [{ anonymous: { paths: '/healthz' } }, 'option anonymous.paths must be a list, not "/healthz"'],
    [{ nodeRestriction: 'no' }, 'option nodeRestriction must be true or false, not "no"'],
    [{ clientCa: {} }, 'option clientCa.file is missing'],
    [{ clientCa: 5 }, 'option clientCa must be a string, or an object with the path of a file, not 5'],
    [{ frontProxy: {} }, 'option frontProxy.ca is missing'],
    [{ authenticationWebhook: {} }, 'option authenticationWebhook.kubeconfig is missing'],
    [
      { serviceAccountIssuers: 'https://a' },
      'option serviceAccountIssuers must be a list that is not empty, not "https://a"',
    ],
    [{ webhookServices: ['a'] }, 'option webhookServices must be an object, not a list'],
    [
      { certificates: { signers: [{}] } },
      'option certificates.signers[0] must have certificateFile and keyFile, or secret, or command, or',
    ],
    [{ certificates: { trust: {} } }, 'option certificates.trust.bundles is missing'],
    [{ operations: { audit: {} } }, 'option operations.audit.policy is missing'],
    [{ graceMs: '10s' }, 'option graceMs must be a whole number of at least 0, not "10s"'],
    [{ graceMs: Number.POSITIVE_INFINITY }, 'option graceMs must be a whole number of at least 0, not Infinity'],
    [{ eventTtlSeconds: -1 }, 'option eventTtlSeconds must be a whole number of at least 0, not -1'],
    [{ onFailed: 5 }, 'option onFailed must be a function, not 5'],
  ])('that are invalid are reported with their path: %j', (options, message) => {
    expect(check(options)).toThrow(message);
  });

  const rule = { name: 'a', effect: 'approve', signers: ['a.test/x'], requesters: { groups: ['g'] }, usages: [] };
  const bundle = { name: 'b', sources: [{ signer: 'a.test/x' }], targets: { clusterTrustBundle: 'b' } };
  /** The paths of options that are also in the file of `kedge serve`, and their errors. */
  test.each<[ServerOptions | object, string]>([
    [{ certificates: { policy: {} } }, 'option certificates.policy.rules is missing'],
    [
      { certificates: { policy: { mode: 'shadwo', rules: [] } } },
      'certificates.policy.mode must be one of enforce, shadow',
    ],
    [
      { certificates: { policy: { default: 'no', rules: [] } } },
      'certificates.policy.default must be one of leave, deny',
    ],
    [
      { certificates: { policy: { rules: [{ ...rule, expresion: 'false' }] } } },
      'option certificates.policy.rules[0].expresion is unknown',
    ],
    [
      { certificates: { policy: { rules: [{ ...rule, effect: 'aprove' }] } } },
      'option certificates.policy.rules[0].effect must be one of approve, deny, not "aprove"',
    ],
    [
      { certificates: { policy: { rules: [{ ...rule, maxExpirationSeconds: '600' }] } } },
      'option certificates.policy.rules[0].maxExpirationSeconds must be a whole number of at least 1',
    ],
    [
      { certificates: { policy: { rules: [rule, rule] } } },
      'option certificates cannot be used: policy.rules[1].name: duplicate rule "a"',
    ],
    [
      { certificates: { policy: { rules: [{ ...rule, expression: 'false' }] } } },
      'option certificates cannot be used: policy.rules[0].expression: expressions are not supported here',
    ],
    [
      { certificates: { signers: [{ name: 'a.test/x', certficateFile: 'c', keyFile: 'k' }] } },
      'option certificates.signers[0].certficateFile is unknown',
    ],
    [
      {
        certificates: {
          signers: [{ name: 'a.test/x', secret: 'a/b', podCertificates: { trustDomain: 'spiffe://a' } }],
        },
      },
      'option certificates.signers[0].podCertificates.trustDomain must be a trust domain, such as example.com',
    ],
    [
      { certificates: { signers: [{ name: 'a.test/x', command: ['c'], podCertificates: { trustDomain: 'a' } }] } },
      'option certificates.signers[0].podCertificates.trustDomain is unknown',
    ],
    [
      { signers: [{ serves: 'a.test/x', sign: () => {}, signPod: 'yes' }] },
      'option signers[0].signPod must be a function, not "yes"',
    ],
    [
      { certificates: { signers: [{ name: 'a.test/x', command: ['c'], maxSeconds: 1 }] } },
      'option certificates.signers[0].maxSeconds must be a whole number of at least 600, not 1',
    ],
    [
      { certificates: { trust: { bundles: [{ ...bundle, source: [] }] } } },
      'option certificates.trust.bundles[0].source is unknown',
    ],
    [
      { certificates: { trust: { bundles: [{ ...bundle, sources: [{ configMap: 'x' }] }] } } },
      'option certificates.trust.bundles[0].sources[0].configMap must be namespace/name, not "x"',
    ],
    [{ certificates: { trust: { bundles: [], owner: 'A b' } } }, 'certificates.trust.owner must be a DNS label'],
    [{ listen: { limits: { headerBytes: 0 } } }, 'headerBytes must be a whole number from 8192 to 1048576, not 0'],
    [{ operations: { requestTimeoutMs: 0 } }, 'requestTimeoutMs must be a whole number from 100 to 86400000, not 0'],
    [{ operations: { readOnlyRequests: 0.5 } }, 'readOnlyRequests must be a whole number of at least 0, not 0.5'],
    [{ operations: { audit: { policy: '', logFile: '-', maxSizeMb: -1 } } }, 'operations.audit.maxSizeMb must be'],
    [{ serviceAccountMaxTokenSeconds: 1 }, 'serviceAccountMaxTokenSeconds must be a whole number of at least 3600'],
    [{ serviceAccountKeySetUri: 'http://a' }, 'serviceAccountKeySetUri must be an https URL, not "http://a"'],
    [{ frontProxy: { ca: '', uidHeaders: ['a b'] } }, 'frontProxy.uidHeaders[0] must be a header name, not "a b"'],
    [{ webhookServices: { a: 'b:1' } }, 'option webhookServices cannot be read: "a" is not a service'],
    [{ etcd: { prefix: 'a' } }, 'option etcd.prefix must be a path that begins with /'],
    [{ etcd: { compactionSeconds: 86_401 } }, 'option etcd.compactionSeconds must be a whole number from 0 to 86400'],
  ])('that a file cannot have are refused in a program: %j', (options, message) => {
    expect(check(options)).toThrow(message);
  });

  test('that are valid or omitted are accepted', () => {
    expect(check({})).not.toThrow();
    expect(check({ store: undefined, clientCa: file, staticTokens: '', anonymous: { paths: [] } })).not.toThrow();
    expect(check({ graceMs: 0, authorization: 'AlwaysAllow', controllers: [] })).not.toThrow();
  });

  test('are checked before anything is opened', async () => {
    await expect(createServer({ stroe: 'level:x' } as ServerOptions)).rejects.toThrow('option stroe is unknown');
    await expect(testServer({ controllers: 'none' as 'all' })).rejects.toThrow('option controllers must be');
  });

  test.each<[ServerOptions, string]>([
    [{ clientCa: 'x' }, 'clientCa: no certificate in the CA bundle'],
    [{ frontProxy: { ca: 'x' } }, 'frontProxy.ca: no certificate in the CA bundle'],
    [{ staticTokens: 'a' }, 'staticTokens: token file must have at least 3 columns'],
    [{ serviceAccountSigningKey: 'x' }, 'serviceAccountSigningKey: no PEM private key found'],
    [{ serviceAccountVerificationKeys: ['x'] }, 'serviceAccountVerificationKeys[0]: no PEM key found'],
    [{ authenticationConfiguration: 'kind: X' }, 'authenticationConfiguration: must be AuthenticationConfiguration'],
    [{ authorizationConfiguration: 'kind: X' }, 'authorizationConfiguration: must be AuthorizationConfiguration'],
    [
      { store: 'level:never-opened', encryptionConfiguration: 'kind: X' },
      'encryptionConfiguration: must be EncryptionConfiguration',
    ],
  ])('with unusable contents are named in the error: %j', async (options, message) => {
    await expect(createServer(options)).rejects.toThrow(message);
  });
});
