import { expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openSigners, type SignersToOpen } from '../../src/server/signers.js';
import type { ConfiguredSigner } from '../../src/server/signing-options.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

const opened = (more: Partial<SignersToOpen>): Promise<unknown> =>
  openSigners({
    own: [],
    domains: defaultDomains,
    clock: new FakeClock(),
    log: silentLogger,
    signal: AbortSignal.abort(),
    ...more,
  });

test.each<[ConfiguredSigner, string]>([
  [{ name: 'a.test/x', certificateFile: '/nowhere', keyFile: '/none' }, 'a.test/x: cannot read /no'],
  [
    {
      name: 'a.test/x',
      certificateFile: '/nowhere',
      pkcs11: { library: 'l', token: 't', key: 'k', pinFile: '/nowhere' },
    },
    'a.test/x: cannot read /nowhere: ENOENT',
  ],
  [{ name: 'a.test/x', command: [] }, 'a.test/x: the command is empty'],
  [{ name: 'a.test/x', secret: 'x' }, 'a.test/x: "x" is no namespace/name'],
])('a signer that cannot be opened is named: %j', async (signer, problem) => {
  await expect(opened({ configured: [signer] })).rejects.toThrow(`signing: ${problem}`);
});

test('of the CA for the well-known signers it is told whose it is', async () => {
  await expect(opened({ caFiles: { certificateFile: '/nowhere', keyFile: '/nowhere' } })).rejects.toThrow(
    'signing: the CA for the well-known signers: cannot read /nowhere: ENOENT',
  );
});
