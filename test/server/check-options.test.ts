import { describe, expect, test } from 'vitest';
import { createServer } from '../../src/embed.js';
import { checkOptions } from '../../src/server/check-options.js';
import type { ServerOptions } from '../../src/server/options.js';
import { testServer } from '../../src/testing/index.js';

const check = (options: unknown) => () => checkOptions(options as ServerOptions);
const file = { file: 'a' };

describe('options of a server', () => {
  test.each<[unknown, string]>([
    [null, 'the options of a server must be an object, not null'],
    ['memory:', 'the options of a server must be an object, not "memory:"'],
    [{ stroe: 'memory:' }, 'there is no option stroe'],
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
    [{ signingSeconds: 0 }, 'option signingSeconds must be a number above 0, not 0'],
    [{ domains: { api: 'a.io', signer: 'b.io' } }, 'option domains.extensions is missing'],
    [
      { domains: { api: 'a.io', signer: 'b.io', extensions: [] } },
      'option domains.extensions must be a list that is not empty, not an empty list',
    ],
    [{ listen: { port: 'x' } }, 'option listen.port must be a whole number from 0 to 65535, not "x"'],
    [{ listen: { port: 70_000 } }, 'option listen.port must be a whole number from 0 to 65535, not 70000'],
    [{ listen: { http2: 'no' } }, 'option listen.http2 must be true or false, not "no"'],
    [{ listen: { prot: 1 } }, 'there is no option listen.prot'],
    [
      { listen: { servingNames: ['a.test', 'a.test:6443'] } },
      'option listen.servingNames[1] must be a DNS name or an IP address, not "a.test:6443"',
    ],
    [{ listen: true }, 'option listen must be an object, not true'],
    [
      { listen: { limits: { idleMs: Number.NaN } } },
      'option listen.limits.idleMs must be a number that is not negative, not NaN',
    ],
    [{ featureGates: { Sharded: true } }, 'there is no option featureGates.Sharded'],
    [
      { featureGates: { ShardedListAndWatch: 'yes' } },
      'option featureGates.ShardedListAndWatch must be true or false, not "yes"',
    ],
    [{ signers: {} }, 'option signers must be a list, not an object'],
    [{ signers: [{}] }, 'option signers[0] must be a signer with the method sign, not an object'],
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
    [{ clientCa: {} }, 'option clientCa must be a text, or an object with file, the path of one, not an object'],
    [{ frontProxy: {} }, 'option frontProxy.ca is missing'],
    [{ authenticationWebhook: {} }, 'option authenticationWebhook.kubeconfig is missing'],
    [
      { serviceAccountIssuers: 'https://a' },
      'option serviceAccountIssuers must be a list that is not empty, not "https://a"',
    ],
    [{ webhookServices: ['a'] }, 'option webhookServices must be an object, not a list'],
    [
      { certificates: { signers: [{}] } },
      'option certificates.signers[0].name must be a signer name, or domain/*, not undefined',
    ],
    [{ certificates: { trust: {} } }, 'option certificates.trust.bundles is missing'],
    [{ operations: { audit: {} } }, 'option operations.audit.policy is missing'],
    [{ graceMs: '10s' }, 'option graceMs must be a number that is not negative, not "10s"'],
    [{ eventTtlSeconds: -1 }, 'option eventTtlSeconds must be a number that is not negative, not -1'],
    [{ onFailed: 5 }, 'option onFailed must be a function, not 5'],
  ])('that are not as they should be are told by path: %j', (options, message) => {
    expect(check(options)).toThrow(message);
  });

  test('that are as they should be pass, and so do those left out', () => {
    expect(check({})).not.toThrow();
    expect(check({ store: undefined, clientCa: file, staticTokens: '', anonymous: { paths: [] } })).not.toThrow();
    expect(check({ graceMs: Number.POSITIVE_INFINITY, authorization: 'AlwaysAllow', controllers: [] })).not.toThrow();
  });

  test('are looked at before anything is opened', async () => {
    await expect(createServer({ stroe: 'level:x' } as ServerOptions)).rejects.toThrow('there is no option stroe');
    await expect(testServer({ controllers: 'none' as 'all' })).rejects.toThrow('option controllers must be');
  });
});
