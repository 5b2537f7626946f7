import { describe, expect, test } from 'vitest';
import {
  announcedAt,
  announceNext,
  dropRetired,
  markNextSeen,
  nextStep,
  phaseOf,
  phaseSince,
  type RotationPolicy,
  rotationPolicy,
  rotationProblem,
  switchToNext,
  UnsafeStep,
  withLifetime,
  withoutFlawedNext,
} from '../../src/pki/ca-rotation.js';
import {
  anchorOf,
  anchorsOf,
  type CaState,
  certificateOf,
  issuersOf,
  type NextCa,
  readCaState,
  writeCaState,
} from '../../src/pki/ca-state.js';
import { readPemCertificates } from '../../src/pki/certificate.js';
import {
  type CertificateAuthority,
  createAuthorityKeyPair,
  createCertificateAuthority,
  type KeyPair,
  loadCertificateAuthority,
} from '../../src/pki/certificate-authority.js';
import { readCertificateRequest } from '../../src/pki/certificate-request.js';
import { encodePem } from '../../src/pki/pem.js';
import { verifySignature } from '../../src/pki/signature.js';
import { testRequest } from '../../src/testing/certificates.js';

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);

const pairAt = (now: number, days: number, commonName = 'ca'): Promise<KeyPair> =>
  createAuthorityKeyPair({ commonName, seconds: (days * day) / 1_000 }, { now: () => now });
const [first, second, brief, gone] = await Promise.all([
  pairAt(start, 100, 'first'),
  pairAt(start, 200, 'second'),
  pairAt(start, 5, 'brief'),
  pairAt(start - 9 * day, 5, 'gone'),
]);
const policy: RotationPolicy = {
  maxSeconds: (10 * day) / 1_000,
  propagationMs: day,
  renewBeforeMs: 20 * day,
  marginMs: hour,
};
const steady: CaState = { generation: 1, signing: first, retiring: [], longestSeconds: policy.maxSeconds };
const calm = { now: start, seen: false, requested: false };

describe('the next step', () => {
  const next = (since?: number): CaState => ({ ...steady, next: { pair: second, seenSince: since } });
  const short = (since?: number): CaState => ({ ...steady, next: { pair: brief, seenSince: since } });
  const [ofFirst, ofSecond] = [certificateOf(first), certificateOf(second)];
  const old = { anchor: anchorOf(second), until: start + day };
  test.each<[string, CaState, object, string]>([
    ['nothing, while nothing is due', steady, {}, 'wait'],
    ['to announce, on request', steady, { requested: true }, 'announce'],
    ['to announce, near the end of the CA', steady, { now: start + 80 * day }, 'announce'],
    ['nothing, just before that', steady, { now: start + 79 * day }, 'wait'],
    ['to wait for bundles', next(), {}, 'wait'],
    ['to note that every bundle has the anchor', next(), { seen: true }, 'note-seen'],
    ['to start over when a bundle lost it', next(start), { now: start + 2 * day }, 'forget-seen'],
    ['to start over when the clock was set back', next(start + 1), { seen: true }, 'forget-seen'],
    ['to wait while it propagates', next(start), { seen: true, now: start + day - 1 }, 'wait'],
    ['to switch once it has propagated', next(start), { seen: true, now: start + day }, 'switch'],
    [
      'to announce another CA in place of one that ends too soon',
      short(start),
      { seen: true, now: start + day },
      'announce',
    ],
    ['to do so even before bundles have it', short(), { now: start + day }, 'announce'],
    ['to keep a next CA that lives just long enough', next(), { now: ofSecond.notAfter - 10 * day }, 'wait'],
    ['to replace it a moment later', next(), { now: ofSecond.notAfter - 10 * day + 1 }, 'announce'],
    ['to wait for bundles even when the signing CA has expired', next(), { now: ofFirst.notAfter }, 'wait'],
    [
      'to announce another CA in place of one that is not valid yet',
      next(),
      { now: ofSecond.notBefore - 1 },
      'announce',
    ],
    ['to announce, when the CA has expired', { ...steady, signing: gone }, {}, 'announce'],
    ['to keep an old anchor', { ...steady, retiring: [old] }, { now: start + day - 1 }, 'wait'],
    ['to drop an old anchor', { ...steady, retiring: [old] }, { now: start + day }, 'retire'],
  ])('is %s', (_, state, more, action) => {
    expect(nextStep(state, { ...calm, ...more }, policy).action).toBe(action);
  });

  test('tells how long there is nothing to do', () => {
    expect(nextStep(steady, calm, policy)).toMatchObject({ until: certificateOf(first).notAfter - 20 * day });
    expect(nextStep({ ...steady, retiring: [old] }, calm, policy)).toMatchObject({ until: old.until });
    expect(nextStep(next(start), { ...calm, seen: true }, policy)).toMatchObject({ until: start + day });
  });
});

test('every state has a phase and the time since when', () => {
  const spreading = markNextSeen(announceNext(steady, second), start);
  const all = [steady, announceNext(steady, second), spreading, switchToNext(spreading, start + day, policy)];
  expect(all.map(phaseOf)).toEqual(['steady', 'announced', 'spreading', 'retiring']);
  expect(all.map(phaseSince)).toEqual([undefined, start, start, start + day]);
  expect(phaseSince(markNextSeen(announceNext(steady, second), start + 1))).toBe(start + 1);
  expect(phaseSince({ ...steady, retiring: [{ anchor: anchorOf(brief), until: start }] })).toBe(undefined);
});

describe('steps out of order are refused', () => {
  const spreading = markNextSeen(announceNext(steady, second), start);
  const short = announceNext(steady, brief);
  test.each<[string, () => unknown]>([
    ['to announce twice', () => announceNext(announceNext(steady, second), second)],
    ['to note an anchor that was not announced', () => markNextSeen(steady, start)],
    ['to switch without a next CA', () => switchToNext(steady, start, policy)],
    ['to switch before bundles have it', () => switchToNext(announceNext(steady, second), start + 9 * day, policy)],
    ['to switch too early', () => switchToNext(spreading, start + day - 1, policy)],
    ['to switch to a CA that ends too soon', () => switchToNext(short, certificateOf(first).notAfter, policy)],
    [
      'to retire an anchor that may still be needed',
      () => dropRetired(switchToNext(spreading, start + day, policy), start + 11 * day),
    ],
    ['to retire nothing', () => dropRetired(steady, start)],
  ])('%s', (_, step) => {
    expect(step).toThrow(UnsafeStep);
  });
});

test('an old anchor is kept for the longest granted lifetime, but no longer than its CA', () => {
  const long = withLifetime(markNextSeen(announceNext(steady, second), start), (30 * day) / 1_000);
  expect(switchToNext(long, start + day, policy).retiring[0]?.until).toBe(start + 31 * day + hour);
  const longer = withLifetime(long, (500 * day) / 1_000);
  expect(switchToNext(longer, start + day, policy).retiring[0]?.until).toBe(certificateOf(first).notAfter);
});

test('the certificate of a subordinate CA is kept as long as its anchor', async () => {
  const root = await createCertificateAuthority({ commonName: 'root' });
  const below = await root.issueAuthority({ commonName: 'below' });
  const after = switchToNext(
    markNextSeen(announceNext({ ...steady, signing: below }, second), start),
    start + day,
    policy,
  );
  const { retiring } = readCaState(writeCaState(after));
  expect(retiring).toMatchObject([{ anchor: root.anchors, issuer: loadCertificateAuthority(below).issuer }]);
  expect(issuersOf(after)).toBe(second.certificate + loadCertificateAuthority(below).issuer);
  expect(anchorsOf(after)).toBe(second.certificate + root.anchors);
});

test('defaults are derived from the lifetime', () => {
  expect(rotationPolicy({ maxSeconds: 3_600 })).toEqual({
    maxSeconds: 3_600,
    propagationMs: day,
    marginMs: hour,
    renewBeforeMs: hour + 8 * day,
  });
});

test.each([
  ['all defaults', {}, undefined, undefined],
  [
    'the default ten years are too short',
    { maxSeconds: 10 * 365 * 86_400 },
    undefined,
    'it would be replaced constantly',
  ],
  ['it would begin as soon as it ended', { maxSeconds: 60 }, 9 * 86_400, 'it would be replaced constantly'],
  ['it begins too late', { renewBeforeMs: day }, undefined, 'it would expire before the next one may sign'],
  ['it begins in time', { renewBeforeMs: day + 2 * hour }, undefined, undefined],
  [
    'its life is shorter than that of its certificates',
    { maxSeconds: 365 * 86_400, renewBeforeMs: 2 * day },
    30 * 86_400,
    'the next one would expire before the certificates it signs',
  ],
] as const)('whether a CA can be rotated: %s', (_, given, caSeconds, expected) => {
  const problem = rotationProblem(rotationPolicy({ maxSeconds: 3_600, ...given }), caSeconds);
  expect(problem?.replace(/ \(with .*/, '')).toBe(expected);
});

test('the reason it cannot be rotated names all figures, defaults included', () => {
  expect(rotationProblem(rotationPolicy({ maxSeconds: 600 }), 3_600)).toBe(
    'it would be replaced constantly (with caSeconds 3600, renewBeforeSeconds 691800, propagationSeconds 86400, maxSeconds 600)',
  );
});

describe('a state in a Secret', () => {
  const full: CaState = {
    generation: 4,
    signing: first,
    next: { pair: second, seenSince: start },
    retiring: [{ anchor: anchorOf(brief), until: start + 1, since: start }],
    longestSeconds: 7,
  };
  test.each([steady, full, announceNext(steady, second)])('is read back as it was written', (state) => {
    const data = writeCaState(state, { other: 'eA==', 'next.key': 'eA==' });
    expect(readCaState(data)).toEqual(state);
    expect(data['other']).toBe('eA==');
    expect(Buffer.from(data['ca.crt'] ?? '', 'base64').toString()).toBe(anchorsOf(state));
  });
  test('may be just a key pair', () => {
    const { 'tls.crt': certificate = '', 'tls.key': key = '' } = writeCaState(steady);
    expect(readCaState({ 'tls.crt': certificate, 'tls.key': key })).toEqual({ ...steady, longestSeconds: 0 });
  });
  const bytes = (text: string): string => Buffer.from(text).toString('base64');
  test.each([
    [{ 'tls.key': '' }, 'the Secret lacks tls.crt or tls.key'],
    [{ 'tls.crt': bytes(second.certificate), 'tls.key': bytes(second.key) }, 'the certificate in tls.crt was replaced'],
    [{ 'rotation.json': bytes('{') }, 'rotation.json of the Secret is not the state of a CA'],
    [{ 'rotation.json': bytes('null') }, 'rotation.json of the Secret is not the state of a CA'],
    [{ 'rotation.json': bytes('{"retiring":[null]}') }, 'rotation.json of the Secret is not the state of a CA'],
  ])('that was tampered with is refused: %j', (more, message) => {
    expect(() => readCaState({ ...writeCaState(full), ...more })).toThrow(message);
  });
});

test.each([
  { generation: '4' },
  { signing: 5 },
  { longestSeconds: '7' },
  { seenSince: 'today' },
  { retiring: {} },
  { retiring: [null] },
  { retiring: [{ until: 1 }] },
  { retiring: [{ anchor: 'x', until: 'soon' }] },
  { retiring: [{ anchor: 'x', until: 1, issuer: 5 }] },
])('a state in a Secret with a member of the wrong type is refused: %j', (more) => {
  const written = writeCaState(steady);
  const facts = JSON.parse(Buffer.from(written['rotation.json'] ?? '', 'base64').toString());
  const data = { ...written, 'rotation.json': Buffer.from(JSON.stringify({ ...facts, ...more })).toString('base64') };
  expect(() => readCaState(data)).toThrow('rotation.json of the Secret is not the state of a CA');
});

/** `KEDGE_SEEDS=1,2,3` runs more simulations. */
const seeds = (process.env['KEDGE_SEEDS'] ?? '1').split(',').map(Number);

/** Returns numbers in [0, 1), the same for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Issued {
  readonly anchor: string;
  readonly anchorEnds: number;
  readonly notAfter: number;
}

/**
 * Simulates two years of a CA with a lifetime of 120 days that signs for up to 30. The publisher is late by hours, and
 * sometimes by days; verifiers see a bundle up to a day after it was published; the program crashes between decision
 * and write, clocks jump, and rotations are requested at any time.
 */
test.each(seeds)(
  'in two years no certificate fails before its end (seed %i)',
  async (seed) => {
    const number = random(seed);
    const chance = (share: number): boolean => number() < share;
    const rules = rotationPolicy({
      maxSeconds: (30 * day) / 1_000,
      propagationMs: day + 6 * hour,
      renewBeforeMs: 45 * day,
    });
    let stored = writeCaState({
      generation: 1,
      signing: await pairAt(start, 120, 'ca 1'),
      retiring: [],
      longestSeconds: rules.maxSeconds,
    });
    /** The published bundles with their times, the latest first. */
    let published: readonly { readonly at: number; readonly text: string; readonly anchors: ReadonlySet<string> }[] =
      [];

    let publisherIsAway = 0;
    let ca: (KeyPair & { readonly loaded: CertificateAuthority }) | undefined;
    const request = readCertificateRequest((await testRequest()).pem);
    let live: readonly Issued[] = [];
    const done = new Set<string>();
    let [generations, checks, requested] = [1, 0, false];

    for (let now = start; now < start + 2 * 365 * day; now += (6 + 10 * number()) * hour) {
      // The publisher.
      if (chance(0.01)) publisherIsAway = now + number() * 9 * day;
      if (now >= publisherIsAway) {
        const text = anchorsOf(readCaState(stored));
        if (text !== published[0]?.text) {
          const anchors = readPemCertificates(text).map(({ der }) => encodePem('CERTIFICATE', der));
          published = [{ at: now, text, anchors: new Set(anchors) }, ...published].slice(0, 20);
        }
      }
      // The signer, with the current state and sometimes with one that is minutes old.
      const { signing } = readCaState(stored);
      if (signing.certificate !== ca?.certificate) ca = { ...signing, loaded: loadCertificateAuthority(signing) };
      const { loaded } = ca;
      const seconds = Math.floor((number() * 30 * day) / 1_000) + 600;
      const [leaf] = readPemCertificates(
        await loaded.issue(request, { now, seconds: Math.min(seconds, rules.maxSeconds), usages: ['client auth'] }),
      );
      if (leaf === undefined) throw new Error('nothing was issued');
      verifySignature(
        { algorithm: leaf.signatureAlgorithm, data: leaf.toBeSigned, signature: leaf.signature },
        loaded.certificate.publicKey,
      );
      const [anchor, anchorEnds] = [anchorOf(signing), loaded.certificate.notAfter];
      live = [...live.filter(({ notAfter }) => notAfter > now), { anchor, anchorEnds, notAfter: leaf.notAfter }];
      // The verifiers: the slowest sees the bundle of a day ago.
      for (const lag of [0, number() * day, day]) {
        const view = published.find(({ at }) => at + lag <= now);
        if (view === undefined) continue;
        for (const issued of live) {
          checks++;
          if (!view.anchors.has(issued.anchor)) throw new Error(`a certificate of generation ${generations} fails`);
          if (issued.anchorEnds <= now) throw new Error('an anchor ended before what it signed');
        }
      }
      // The state machine.
      requested ||= chance(0.003);
      const seeing = chance(0.002) ? now - 3 * day : now;
      for (let more = true; more; ) {
        const state = readCaState(stored);
        const seen =
          state.next !== undefined && !chance(0.15) && (published[0]?.anchors.has(anchorOf(state.next.pair)) ?? false);
        const step = nextStep(state, { now: seeing, seen, requested }, rules);
        done.add(step.action);
        const next =
          step.action === 'announce'
            ? announceNext(
                withoutFlawedNext(state, seeing, rules),
                await pairAt(now, 120, `ca ${state.generation + 1}`),
              )
            : step.action === 'note-seen'
              ? markNextSeen(state, seeing)
              : step.action === 'forget-seen'
                ? markNextSeen(state, undefined)
                : step.action === 'switch'
                  ? switchToNext(state, seeing, rules)
                  : step.action === 'retire'
                    ? dropRetired(state, seeing)
                    : state;
        more = next !== state;
        if (chance(0.3)) break; // a crash before the write
        if (step.action === 'announce') requested = false;
        stored = writeCaState(next, stored);
        generations = next.generation;
        if (chance(0.3)) break; // a crash after the write
      }
    }
    expect(generations).toBeGreaterThan(6);
    expect(checks).toBeGreaterThan(50_000);
    expect([...done].sort()).toEqual(['announce', 'forget-seen', 'note-seen', 'retire', 'switch', 'wait']);
  },
  120_000,
);

test('the time of the announcement is when the next CA was created, whenever its certificate begins', async () => {
  const now = Date.UTC(2026, 0, 1);
  const pair = await createAuthorityKeyPair({ commonName: 'ca' }, { now: () => now });
  expect(announcedAt({ pair } as NextCa)).toBe(now);
});
