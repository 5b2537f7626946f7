import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { createAuthorityKeyPair } from '../../src/pki/certificate-authority.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openSigners } from '../../src/server/signers.js';
import { type PodSignerUnderTest, podSignerContract } from '../../src/testing/pod-signer-contract.js';
import { temporaryDirectory } from '../process/program.js';

/** A program that issues certificates to pods, named in the configuration. */

const program = join(import.meta.dirname, 'pod-signer-program.mjs');
const folder = temporaryDirectory();
const file = (name: string): string => join(folder, name);
const stop = new AbortController();
const ended: Promise<void>[] = [];
afterAll(async () => {
  stop.abort();
  await Promise.all(ended);
});

const signerName = 'example.test/pods';

async function make(): Promise<PodSignerUnderTest> {
  const ca = await createAuthorityKeyPair({ commonName: 'Pods' });
  writeFileSync(file('ca.crt'), ca.certificate);
  writeFileSync(file('ca.key'), ca.key);
  const opened = await openSigners({
    own: [],
    configured: [
      {
        name: signerName,
        command: [process.execPath, program, file('ca.crt'), file('ca.key')],
        podCertificates: { annotations: ['example.test/name'] },
        maxSeconds: 7_200,
      },
    ],
    domains: defaultDomains,
    clock: systemClock,
    log: silentLogger,
    signal: stop.signal,
  });
  ended.push(opened.ended);
  const [signer] = opened.signers;
  if (signer === undefined) throw new Error('there is no signer');
  return { signer, signerName, refuses: { serviceAccount: { name: 'nobody', uid: 'n' } }, maxSeconds: 7_200 };
}

test.each(podSignerContract(make).map((one) => [one.name, one] as const))('%s', (_, one) => one.run());
