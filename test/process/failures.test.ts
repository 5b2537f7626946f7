import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, runKedge, type ServerProgram, startServer, temporaryDirectory } from './program.js';

/** Errors are reported in one sentence on standard error, and by the exit status. */

const files = temporaryDirectory();
const file = (name: string, content: string): string => {
  const path = join(files, name);
  writeFileSync(path, content);
  return path;
};

function refused({ code, signal, stdout, stderr }: Ended, status: number, sentence: RegExp): void {
  expect({ code, signal, stdout }).toEqual({ code: status, signal: null, stdout: '' });
  expect(stderr).toMatch(sentence);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
}

describe('wrong usage exits with 2', () => {
  test.each<[readonly string[], RegExp]>([
    [['serve', '--nope'], /unknown option '--nope'/],
    [['surf'], /unknown command 'surf'/],
    [['serve', 'more'], /too many arguments/],
    [['serve', '--port', 'x'], /must be a number from 0 to 65535/],
    [['serve', '--port', '65536'], /must be a number from 0 to 65535/],
    [['serve', '--host', ''], /must not be empty/],
    [['serve', '--serving-names', 'a.test,*.b.test'], /must be DNS names and IP addresses/],
    [['serve', '--log-level', 'loud'], /Allowed choices are debug, info, warn, error/],
    [['serve', '--log-format', 'xml'], /Allowed choices are pretty, json/],
    [['serve', '--controllers', 'csr-signer,gremlin'], /unknown controller "gremlin"; known are csr-approver, /],
    [['controllers'], /required option '--kubeconfig <file>'/],
    [['controllers', '--kubeconfig', 'k', '--controllers', 'gremlin'], /unknown controller "gremlin"; known are /],
    [['controllers', '--kubeconfig', 'k', '--ca-cert', 'ca.crt'], /--ca-cert and --ca-key go together/],
    [['controllers', '--kubeconfig', 'x', '--lease', 'a'], /a Lease must be namespace\/name/],
    [['controllers', '--kubeconfig', 'x', '--probe-address', 'a'], /must be a port or host:port/],
    [['controllers', '--kubeconfig', 'x', '--probe-address', ':65536'], /must be a number from 0 to 65535/],
    [['ca', 'rotate', 'a'], /a Secret must be namespace\/name/],
    [['certificates', '--noted', 'empty'], /--noted needs --verify/],
    [['certificates', '--verify', '--signer', 'a/b'], /option '--verify' cannot be used with option '--signer <name>'/],
    [['certificates', '--verify', '--output', 'table'], /'--verify' cannot be used with option '--output <format>'/],
    [['certificates', '--verify', '--expired'], /option '--verify' cannot be used with option '--expired'/],
    [['certificates', '--verify', '--expires-within', '1d'], /cannot be used with option '--expires-within <period>'/],
    [['certificates', '--verify', '--noted', `0:${'0'.repeat(64)}`], /must be NUMBER:HASH or empty/],
    [['certificates', '--verify', '--noted', '1:0'], /must be NUMBER:HASH or empty/],
  ])('%j', async (args, sentence) => {
    refused(await runKedge(args), 2, sentence);
  });

  test('--version is not a failure', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    expect(await runKedge(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('--help is not a failure', async () => {
    const { code, stdout } = await runKedge(['serve', '--help']);
    expect(code).toBe(0);
    for (const flag of ['port', 'host', 'data-dir', 'store', 'config', 'controllers', 'log-level', 'log-format']) {
      expect(stdout).toContain(`--${flag} `);
    }
  });
});

describe('a bad configuration exits with 1', () => {
  const dataDir = ['--port', '0', '--data-dir', join(files, 'unused')];
  test.each<[string, () => readonly string[], RegExp]>([
    ['a missing file', () => ['--config', join(files, 'none.yaml')], /^kedge: cannot read .*none\.yaml: ENOENT$/m],
    [
      'not YAML',
      () => ['--config', file('bad.yaml', '[')],
      /^kedge: .*bad\.yaml: yaml: .*did not find expected node content$/m,
    ],
    [
      'not a mapping',
      () => ['--config', file('list.yaml', '- a')],
      /^kedge: .*list\.yaml: must be a mapping of options$/m,
    ],
    ['an unknown option', () => ['--config', file('typo.yaml', 'prot: 1')], /^kedge: .*typo\.yaml: prot: is unknown$/m],
    [
      'a duplicate option',
      () => ['--config', file('twice.yaml', 'anonymous: false\nport: 0\nanonymous: true')],
      /^kedge: .*twice\.yaml: line 3: key "anonymous" already set in map$/m,
    ],
    [
      'options in a second document',
      () => ['--config', file('two.yaml', '# one\n---\nport: 0\n--- # two\nanonymous: false\n')],
      /^kedge: .*two\.yaml: must be one document: line 5 has more behind its end$/m,
    ],
    [
      'options indented less than the first line',
      () => ['--config', file('left.yaml', ' metrics: true\nanonymous: false\nnope: 1\n')],
      /^kedge: .*left\.yaml: must be one document: line 2 has more behind its end$/m,
    ],
    [
      'a value of the wrong type',
      () => ['--config', file('type.yaml', 'anonymous: perhaps')],
      /^kedge: .*type\.yaml: anonymous: /,
    ],
    [
      'a string in place of a list of controllers',
      () => ['--config', file('some.yaml', 'controllers: some')],
      /^kedge: .*some\.yaml: controllers: must be 'all' or a list of names, not "some"$/m,
    ],
    [
      'an invalid serving name',
      () => ['--config', file('names.yaml', 'servingNames: [a.test, "0.0.0.0"]')],
      /^kedge: .*names\.yaml: servingNames\[1\]: must be a DNS name or an IP address, not "0\.0\.0\.0"$/m,
    ],
    [
      'an incomplete pair',
      () => ['--config', file('half.yaml', 'signing: {certificateFile: ca.crt}')],
      /^kedge: .*half\.yaml: signing: certificateFile and keyFile go together$/m,
    ],
    [
      'a missing serving certificate',
      () => ['--config', file('serving.yaml', 'serving: {certificateFile: /none.crt, keyFile: /k, caFile: /ca}')],
      /^kedge: the serving certificate: cannot read .*: ENOENT$/m,
    ],
    ...[
      'clientCaFile',
      'tokenFile',
      'authenticationConfigFile',
      'frontProxy.caFile',
      'serviceAccounts.signingKeyFile',
      'audit.policyFile',
    ].map((option): [string, () => readonly string[], RegExp] => [
      `a file that is not there: ${option}`,
      () => {
        const [name = '', inner] = option.split('.');
        const given = inner === undefined ? '/nowhere' : { [inner]: '/nowhere' };
        return ['--store', 'memory:', '--config', file(`${option}.yaml`, JSON.stringify({ [name]: given }))];
      },
      new RegExp(`^kedge: .*${option}: cannot read /nowhere: ENOENT$`, 'm'),
    ]),
    ['an unknown store', () => ['--store', 'tape:'], /^kedge: the store address "tape:" is not valid/],
    [
      'an unknown controller',
      () => ['--store', 'memory:', '--config', file('gremlin.yaml', 'controllers: [gremlin]')],
      /^kedge: unknown controller "gremlin"; known are /,
    ],
    [
      'an address of another machine',
      () => ['--host', '192.0.2.1', '--store', 'memory:'],
      /^kedge: 192\.0\.2\.1 is not an address of this machine$/m,
    ],
    [
      'a data directory that is a file',
      () => ['--data-dir', file('occupied', '')],
      /^kedge: cannot use .*occupied as data directory/,
    ],
  ])('%s', async (_, args, sentence) => {
    refused(await runKedge(['serve', ...dataDir, ...args()]), 1, sentence);
  });

  test.each(['demo', 'controllers'])('%s with a missing kubeconfig exits with 1', async (command) => {
    refused(await runKedge([command, '--kubeconfig', join(files, 'none')]), 1, /^kedge: no kubeconfig at .*none$/m);
  });
});

describe('a second server beside a running one is refused', () => {
  const dataDir = temporaryDirectory();
  let server: ServerProgram;
  beforeAll(async () => {
    server = await startServer(dataDir);
  });
  afterAll(async () => {
    await server.stop();
  });

  test('if the port is in use', async () => {
    const { port } = new URL(server.url);
    const other = await runKedge(['serve', '--port', port, '--data-dir', temporaryDirectory()]);
    refused(other, 1, new RegExp(`^kedge: port ${port} on 127\\.0\\.0\\.1 is in use by another program$`, 'm'));
  });

  test('if the data directory is locked', async () => {
    const other = await runKedge(['serve', '--port', '0', '--data-dir', dataDir]);
    refused(other, 1, /^kedge: the store in .* is in use by another process$/m);
  });
});

describe('a damaged data directory is refused', () => {
  const damage: readonly [string, (dataDir: string) => string, (content: Buffer) => Buffer | string, RegExp][] = [
    ['the store', logFile, (log) => overwritten(log), /^kedge: the store in .* is damaged: /],
    ['the CA key', (dir) => join(dir, 'pki/ca.pem'), () => 'x', /^kedge: .*ca\.pem is damaged: /],
    [
      'a truncated CA key',
      (dir) => join(dir, 'pki/ca.pem'),
      (pem) => pem.subarray(0, 300),
      /^kedge: .*ca\.pem is damaged: /,
    ],
    [
      'the token key',
      (dir) => join(dir, 'pki/sa.key'),
      () => '',
      /^kedge: .*sa\.key is damaged: it contains no private key$/m,
    ],
  ];
  const sound = temporaryDirectory();
  beforeAll(async () => {
    await (await startServer(sound)).stop();
    // The journal would replace what the log lacks.
    rmSync(join(sound, 'store/JOURNAL'));
  });
  const copy = (): string => {
    const dataDir = temporaryDirectory();
    cpSync(sound, dataDir, { recursive: true });
    return dataDir;
  };

  test.each(damage)('because of %s', async (_, which, change, sentence) => {
    const dataDir = copy();
    const path = which(dataDir);
    writeFileSync(path, change(readFileSync(path)));
    refused(await runKedge(['serve', '--port', '0', '--data-dir', dataDir]), 1, sentence);
  });

  test('unless the damaged files can be recreated', async () => {
    const dataDir = copy();
    writeFileSync(join(dataDir, 'pki/apiserver.pem'), 'x');
    writeFileSync(join(dataDir, 'pki/admin.pem'), 'x');
    expect((await (await startServer(dataDir)).stop()).code).toBe(0);
  });
});

/** Returns the log file of LevelDB, which contains everything after a regular stop. */
function logFile(dataDir: string): string {
  const store = join(dataDir, 'store');
  const [log, ...more] = readdirSync(store).filter((name) => name.endsWith('.log'));
  if (log === undefined || more.length > 0) throw new Error('the store has not one log');
  return join(store, log);
}

function overwritten(content: Buffer): Buffer {
  const changed = Buffer.from(content);
  changed.fill(0x5a, 20_000, 22_000);
  return changed;
}
