import { parseArgs } from 'node:util';
import { hasOpenssl } from '../openssl-command.js';
import { bundleCampaign, keyTypes, requestCampaign, verifyWithOpenssl } from './campaign.js';

/**
 * `npm run fuzz:pki -- --runs 200000 --seed 1 --keys P-256,Ed25519`: long campaigns. Exits with 1 if one finds a fault.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    keys: { type: 'string', default: keyTypes.join() },
  },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`seed ${seed}, ${runs} requests and ${runs} bundles with keys of each type`);
for (const keyType of keyTypes.filter((type) => values.keys.split(',').includes(type))) {
  try {
    const began = performance.now();
    const tally = await requestCampaign({ keyType, runs, seed });
    if (hasOpenssl) verifyWithOpenssl(tally);
    const between = performance.now();
    const { accepted, combined, slowestMs } = await bundleCampaign({ keyType, runs, seed });
    const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1_000)} s`;
    say(
      `${keyType}: ${tally.read} requests read, ${tally.issued} issued, ${tally.shown.length} shown to openssl, ` +
        `slowest ${tally.slowestMs.toFixed(1)} ms, ${seconds(between - began)}; ` +
        `${accepted} bundles accepted, ${combined} passed on in part, ` +
        `slowest ${slowestMs.toFixed(1)} ms, ${seconds(performance.now() - between)}`,
    );
  } catch (error) {
    say(`FOUND ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
}
if (process.exitCode === undefined) say('nothing found');
