import { describe, expect, test } from 'vitest';
import { hasOpenssl } from '../openssl-command.js';
import { bundleCampaign, keyTypes, requestCampaign, verifyWithOpenssl } from './campaign.js';

/** Short campaigns; `npm run fuzz:pki` makes long ones. The seed is fixed, so that a failure can be repeated. */
const runs = 200;
const seed = 1;

describe.each(keyTypes)('with keys %s', (keyType) => {
  test(`${runs} broken requests are refused, or issued for what they say`, async () => {
    const tally = await requestCampaign({ keyType, runs, seed });
    expect(tally.read).toBeGreaterThan(runs / 50);
    expect(tally.issued).toBeGreaterThan(runs / 100);
    expect(tally.shown.length).toBeGreaterThan(0);
    if (hasOpenssl) verifyWithOpenssl(tally);
  });

  test(`${runs} broken bundles are refused, or have only what can be read`, async () => {
    const { combined, accepted } = await bundleCampaign({ keyType, runs, seed });
    expect(combined).toBeGreaterThan(runs / 100);
    expect(accepted).toBeGreaterThan(runs / 100);
  });
});
