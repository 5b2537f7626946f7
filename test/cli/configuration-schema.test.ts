import { expect, test } from 'vitest';
import { certificatesOptions } from '../../src/cli/certificates-options.js';
import { problemsOf } from '../../src/cli/configuration.js';
import { configuration } from '../../src/cli/configuration-schema.js';

const problem = (given: object): string => {
  const { success, error } = configuration.safeParse(given);
  return success ? 'none' : problemsOf(error.issues);
};
const rule = {
  name: 'a',
  effect: 'approve',
  signers: ['a.test/x'],
  requesters: { groups: ['g'] },
  usages: ['client auth'],
};
const bundle = { name: 'b', sources: [{ signer: 'a.test/x' }], targets: { configMaps: { namespaces: {} } } };
const signer = (more: object): object => ({ signing: { signers: [{ name: 'a.test/x', ...more }] } });

test.each<[object, string]>([
  [signer({ certificateFile: 'c', keyFile: 'k', maxSeconds: 600 }), 'none'],
  [signer({ secret: 'ns/name', rotation: { keyType: 'P-384' } }), 'none'],
  [signer({ command: ['x'] }), 'none'],
  [signer({ certificateFile: 'c', pkcs11: { library: 'l', token: 't', key: 'k', pinFile: 'p' } }), 'none'],
  [signer({}), 'signing.signers[0]: must have certificateFile'],
  [signer({ certificateFile: 'c' }), 'signing.signers[0].keyFile: is missing'],
  [signer({ certficateFile: 'c', keyFile: 'k' }), 'signing.signers[0].certficateFile: is unknown'],
  [signer({ command: [] }), 'signing.signers[0]'],
  [signer({ secret: 'name' }), 'signing.signers[0]'],
  [{ signing: { signers: [{ name: 'x', command: ['y'] }] } }, 'signing.signers[0]'],
  [{ certificatePolicy: { rules: [rule] } }, 'none'],
  [
    { certificatePolicy: { rules: [{ ...rule, usages: ['fly'] }] } },
    'certificatePolicy: rules[0].usages: "fly" is not a usage',
  ],
  [{ certificatePolicy: { rules: [{ ...rule, subjet: {} }] } }, 'certificatePolicy.rules[0].subjet: is unknown'],
  [{ certificatePolicy: { mode: 'off' } }, 'certificatePolicy.mode'],
  [{ trust: { distribute: true, bundles: [bundle] } }, 'none'],
  [{ trust: { bundles: [bundle] } }, 'trust: bundles need distribute: true'],
  [
    { trust: { distribute: true, bundles: [{ ...bundle, sources: [{}] }] } },
    'trust.bundles[0].sources[0]: must have file, configMap, secret',
  ],
  [{ trust: { owner: 'A b' } }, 'trust.owner: must be a DNS label'],
  [{ limits: { headerBytes: 0 } }, 'limits.headerBytes: must be a whole number from 8192 to 1048576, not 0'],
  [{ serving: { certificateFile: 'c', keyFile: 'k', caFile: 'a' } }, 'none'],
  [{ serving: { certificateFile: 'c', keyFile: 'k' } }, 'serving: certificateFile, keyFile and caFile go together'],
  [{ serving: { certificateFile: 1 } }, 'serving.certificateFile: must be a text'],
  [{ serviceAccounts: { maxTokenSeconds: 0 } }, 'none'],
  [
    { serviceAccounts: { maxTokenSeconds: 1 } },
    'serviceAccounts.maxTokenSeconds: must be 0 or a whole number of at least 3600',
  ],
  [
    { webhookServices: [{ service: 'a/b', address: 'c' }] },
    'webhookServices[0]: cannot be read: "c" is not the address',
  ],
  [{ webhookServices: [{ service: 'a/b', address: 'c:1' }] }, 'none'],
  [{ webhookServices: 5 }, 'webhookServices: must be a list, not 5'],
  [{ webhookServices: [5] }, 'webhookServices[0]: must be an object, not 5'],
  [{ logLevel: 'verbose' }, 'logLevel: must be one of debug, info, warn, error, not "verbose"'],
  [{ logFormat: 'xml' }, 'logFormat: must be one of auto, pretty, json, not "xml"'],
  [{ etcd: 5 }, 'etcd: must be an object, not 5'],
  [{ domains: null }, 'domains: must be an object, not null'],
  [{ audit: { webhook: [] } }, 'audit.webhook: must be an object, not an empty list'],
])('the problem of %j is: %s', (given, expected) => {
  expect(problem(given)).toContain(expected);
});

test('the problems of all options are reported at once', () => {
  expect(problem({ port: -1, servingNames: ['a', 'a b'], prot: 1, limits: { watch: 1 } })).toBe(
    'port: must be a whole number from 0 to 65535, not -1; servingNames[1]: must be a DNS name or an IP address, not "a b"; ' +
      'limits.watch: is unknown; prot: is unknown',
  );
});

test('options that are not configured are absent', () => {
  const options = certificatesOptions(configuration.parse({}));
  expect(options).toEqual({ signers: [], policy: { mode: 'enforce', default: 'leave', rules: [] } });
  expect(certificatesOptions(configuration.parse({ trust: { distribute: true } })).trust).toEqual({
    owner: 'kedge',
    secretTargets: false,
    bundles: [],
  });
});
