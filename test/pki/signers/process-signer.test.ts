import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { podSigningRequest } from '../../../controllers/pod-certificate-signer/pod-signing-request.js';
import { createAuthorityKeyPair } from '../../../src/pki/certificate-authority.js';
import type { PodSigningRequest } from '../../../src/pki/pod-signing.js';
import type { SigningRequest } from '../../../src/pki/signer.js';
import { type ProcessSigner, processSigner } from '../../../src/pki/signers/process-signer.js';
import type { ProcessSignerOptions } from '../../../src/pki/signers/process-signer-options.js';
import type { Logger } from '../../../src/runtime/logger.js';
import { testKey, testPodRequest } from '../../../src/testing/certificates.js';
import { signerContract } from '../../../src/testing/signer-contract.js';
import { eventually } from '../../../src/testing/until.js';

const usages = ['digital signature', 'client auth'];
const tools = ['python3', 'openssl'].every(
  (tool) => spawnSync(tool, ['--version']).status === 0 || spawnSync(tool, ['version']).status === 0,
);
if (!tools) console.warn('python3 or openssl is missing: the signer in Python is not tried');

const running: ProcessSigner[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((signer) => signer.stop()));
});
const started = (options: Omit<ProcessSignerOptions, 'serves'>): ProcessSigner => {
  const signer = processSigner({ serves: 'example.test/external', ...options });
  running.push(signer);
  return signer;
};

describe.skipIf(!tools)('a signer in Python', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kedge-external-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const [certificate, key] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
  const pair = await createAuthorityKeyPair({ commonName: 'external CA' });
  writeFileSync(certificate, pair.certificate);
  writeFileSync(key, pair.key);
  const script = new URL('../../../examples/external-signer/signer.py', import.meta.url).pathname;
  const make = () => ({
    signer: started({ command: ['python3', script, certificate, key] }),
    signerName: 'example.test/external',
    issues: { usages },
    refuses: { usages: ['server auth'] },
    maxSeconds: 86_400,
  });
  test.each(signerContract(make).map((one) => [one.name, one] as const))('%s', (_, one) => one.run());
});

/** Returns a signer that runs these lines of JavaScript for every message `m`; `say` sends an answer. */
const scripted = (body: string, more: Partial<ProcessSignerOptions> = {}): ProcessSigner =>
  started({
    command: [
      process.execPath,
      '-e',
      `const say = (o) => process.stdout.write(JSON.stringify(o) + '\\n'); let n = 0;
       require('node:readline').createInterface({ input: process.stdin }).on('line', (l) => { const m = JSON.parse(l); n++; ${body} });`,
    ],
    ...more,
  });

const request: SigningRequest = {
  signerName: 'example.test/external',
  request: 'PEM',
  usages,
  requester: { username: 'alice', groups: ['a'], uid: '1', extra: { k: ['v'] } },
  expirationSeconds: 3_600,
  uid: 'u',
};
const never = new AbortController().signal;
setMaxListeners(0, never);
const refuse = "refused: 'no', reason: 'No'";

describe('a signer process', () => {
  test('gets the whole request, and answers in any order', async () => {
    const signer = scripted(
      `if (m.sign) { if (n === 1) global.first = m; else { say({ id: m.id, refused: 'second', reason: 'B' }); say({ id: first.id, refused: JSON.stringify(first.sign), reason: 'A' }); } }`,
    );
    const [first, second] = await Promise.all([signer.sign(request, never), signer.sign(request, never)]);
    expect(second).toEqual({ refused: 'second', reason: 'B' });
    expect(JSON.parse('refused' in first ? first.refused : '')).toEqual(request);
  });

  test('serves many requests with one process, up to its limit at a time', async () => {
    const signer = scripted(
      `global.open = (global.open ?? 0) + 1;
       const answer = { id: m.id, refused: String(process.pid), reason: 'Open' + global.open };
       setTimeout(() => { global.open--; say(answer) }, 1)`,
      { concurrency: 3 },
    );
    const answers = await Promise.all(Array.from({ length: 40 }, () => signer.sign(request, never)));
    const refusals = answers.map((one) => ('refused' in one ? one : { refused: '', reason: '' }));
    expect(new Set(refusals.map(({ refused }) => refused)).size).toBe(1);
    expect(['Open1', 'Open2', 'Open3']).toEqual(expect.arrayContaining(refusals.map(({ reason }) => reason)));
  });

  test.each([
    ['an error', `say({ id: m.id, error: 'HSM is away' })`, 'the signer reported: HSM is away'],
    ['without a result', 'say({ id: m.id })', 'the answer is neither "issued" nor "refused"'],
    ['with an invalid reason', `say({ id: m.id, refused: 'x', reason: 'not a word' })`, 'the answer is neither'],
    ['with invalid JSON', `process.stdout.write('oops\\n')`, 'the signer process ended with SIGKILL'],
    ['with an endless line', `process.stdout.write('x'.repeat(5e6))`, 'the signer process ended with SIGKILL'],
    ['by ending', 'process.exit(3)', 'the signer process ended with status 3'],
    ['too late', '', 'no answer within 300 ms'],
  ])('that answers %s is asked again later', async (_, body, message) => {
    const signer = scripted(body, { timeoutMs: 300 });
    if (body === '') await expect(signer.sign(request, never)).rejects.toThrow(message);
    else await expect(scripted(body, { timeoutMs: 10_000 }).sign(request, never)).rejects.toThrow(message);
  });

  const podRequest = async (): Promise<PodSigningRequest> =>
    podSigningRequest(await testPodRequest({ name: 'r', annotations: { 'a.test/b': 'c' } }));

  test('gets the whole request for a pod', async () => {
    const signer = scripted(`say({ id: m.id, refused: JSON.stringify(m.signPod), reason: 'A' })`, { pods: true });
    const asked = await podRequest();
    const answer = await signer.signPod?.(asked, never);
    const publicKey = createPublicKey(await testKey()).export({ type: 'spki', format: 'pem' });
    expect(answer).toMatchObject({ reason: 'A' });
    expect(JSON.parse(answer !== undefined && 'refused' in answer ? answer.refused : '')).toEqual({
      ...asked,
      publicKey,
    });
  });

  test.each([
    [`issued: 'PEM'`, { issued: 'PEM' }],
    [`issued: 'PEM', refreshAt: '2030-01-01T00:00:00+01:00'`, { issued: 'PEM', refreshAt: Date.UTC(2029, 11, 31, 23) }],
    [`failed: 'x', reason: 'No'`, { failed: 'x', reason: 'No' }],
    [`issued: 'PEM', refreshAt: null`, { issued: 'PEM' }],
    [`issued: 'PEM', refreshAt: 1`, '"refreshAt" of the answer is not a time such as 2030-01-01T00:00:00Z'],
    [`issued: 'PEM', refreshAt: 'soon'`, '"refreshAt" of the answer is not a time'],
    [`issued: ''`, 'the answer is neither "issued", nor "refused" or "failed"'],
  ])('that answers a request for a pod with %s is understood, or asked again later', async (said, expected) => {
    const signer = scripted(`say({ id: m.id, ${said} })`, { pods: true });
    const answer = signer.signPod?.(await podRequest(), never);
    if (typeof expected === 'string') await expect(answer).rejects.toThrow(expected);
    else expect(await answer).toEqual(expected);
  });

  test('issues nothing to pods by default', () => {
    expect(scripted('').signPod).toBeUndefined();
  });

  test('is restarted when it ended', async () => {
    const signer = scripted(`if (m.sign.uid === 'die') process.exit(1); else say({ id: m.id, ${refuse} })`);
    await expect(signer.sign({ ...request, uid: 'die' }, never)).rejects.toThrow('ended');
    const answer = await eventually(
      () => signer.sign(request, never).catch(() => undefined),
      (found) => found !== undefined,
    );
    expect(answer).toEqual({ refused: 'no', reason: 'No' });
  });

  /** A child process that keeps the output of the program open. */
  const child = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'inherit' });`;
  test.each([
    ['ends', `${child} process.exit(3);`, 'ended with status 3'],
    ['does not answer', child, 'no answer within 2000 ms'],
  ])('that %s is killed with its children, and restarted', async (_, body, message) => {
    const signer = scripted(`if (m.sign?.uid === 'last') { ${body} } else if (m.sign) say({ id: m.id, ${refuse} })`, {
      timeoutMs: 2_000,
    });
    const code = 'ERR_SIGNER_PROCESS';
    await expect(signer.sign({ ...request, uid: 'last' }, never)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      code,
    });
    const answer = await eventually(
      () => signer.sign(request, never).catch(() => undefined),
      (found) => found !== undefined,
    );
    expect(answer).toEqual({ refused: 'no', reason: 'No' });
  });

  test('counts as ended even if a child has left its group and holds its output', async () => {
    const left = child
      .replace("stdio: 'inherit'", "stdio: 'inherit', detached: true")
      .replace('1e6', '1e3')
      .replace('() => {}', '() => process.ppid === 1 && process.exit()');
    const signer = scripted(`${left} setTimeout(() => process.exit(3), 100)`);
    await expect(signer.sign(request, never)).rejects.toThrow('ended with status 3');
  });

  test('has its anchors parsed and normalized', async () => {
    const { certificate } = await createAuthorityKeyPair({ commonName: 'external CA' });
    const answering = (anchors: string): ProcessSigner =>
      scripted(`say({ id: m.id, anchors: ${JSON.stringify(anchors)} })`);
    expect(await answering(`text\n${certificate.trim()}`).trustAnchors()).toBe(certificate);
    expect(await answering('\n').trustAnchors()).toBe('');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    await expect(answering(certificate + broken).trustAnchors()).rejects.toThrow('x509: malformed certificate');
    await expect(answering('text').trustAnchors()).rejects.toThrow('contain no certificate');
  });

  test("may wait for its turn and its answer within the controller's timeout", () => {
    expect(started({ command: ['x'], timeoutMs: 60_000 }).timeoutMs).toBe(120_000);
  });

  test('that cannot be started is reported', async () => {
    const signer = started({ command: ['/nowhere/signer'] });
    await expect(signer.sign(request, never)).rejects.toThrow('cannot start /nowhere/signer');
  });

  test('is told of cancelled requests', async () => {
    const signer = scripted(
      `if (m.cancel) { global.cancelled = m.cancel } else if (m.anchors) say({ id: m.id, error: 'cancelled ' + global.cancelled })`,
    );
    const stop = new AbortController();
    const asked = signer.sign(request, stop.signal);
    setImmediate(() => stop.abort(new Error('enough')));
    await expect(asked).rejects.toThrow('enough');
    await expect(signer.trustAnchors()).rejects.toThrow('cancelled 1');
  });

  test('gets only the environment variables that it needs', async () => {
    process.env['KEDGE_TEST_SECRET'] = 'x';
    const signer = scripted('say({ id: m.id, error: Object.keys(process.env).join() })');
    await expect(signer.trustAnchors()).rejects.toThrow(/^(?!.*KEDGE_TEST_SECRET)/);
    delete process.env['KEDGE_TEST_SECRET'];
  });

  test('has its error output logged', async () => {
    const lines: string[] = [];
    const note = (fields: object): void => void lines.push(JSON.stringify(fields));
    const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };
    const signer = scripted(`console.error('low on paper'); say({ id: m.id, ${refuse} })`, { log });
    await signer.sign(request, never);
    const stopping = signer.stop();
    await expect(signer.sign(request, never)).rejects.toThrow('stopped');
    await stopping;
    expect(lines.join()).toContain('low on paper');
  });

  test('is restarted by a request after a stop', async () => {
    const signer = scripted(`say({ id: m.id, ${refuse} })`);
    for (let server = 0; server < 2; server++) {
      await signer.sign(request, never);
      await signer.stop();
    }
  });
});
