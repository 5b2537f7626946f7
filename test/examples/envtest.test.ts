import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { command, download, orSkip, prepared, unlessAll } from '../clients/toolchain.js';
import { build, mainFile } from '../process/build.js';
import { type Ended, run, temporaryDirectory } from '../process/program.js';

const example = resolve('examples/envtest');
const asset = (name: string): string => join(example, 'assets', name);

/** Returns a command without arguments that runs the program. */
function kedge(): string {
  const file = join(temporaryDirectory(), 'kedge');
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  chmodSync(file, 0o700);
  return file;
}

const env = { GOFLAGS: '-mod=mod' };
const suite = (): Promise<string> =>
  prepared(resolve('test/clients/go'), {
    locks: ['go.mod', 'go.sum'],
    download: (cwd) => download('go', ['mod', 'download'], { cwd, env }),
    compile: (cwd) => command('go', ['test', '-c', '-o', 'bin/envtest.test', './envtest'], { cwd, env }),
  });

test('an envtest suite runs against Kedge', { timeout: 1_200_000 }, async (context) => {
  unlessAll(context);
  const folder = await orSkip(context, suite);
  await build();
  const program = join(folder, 'bin/envtest.test');
  const done = await run(program, ['-test.v'], {
    env: { KEDGE: kedge(), KUBEBUILDER_ASSETS: join(example, 'assets') },
  });
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('--- PASS: TestEnvironment') });
});

/** Returns the arguments and the configuration with which Kedge is started. */
async function translated(...flags: readonly string[]): Promise<Ended & { readonly folder: string }> {
  const folder = temporaryDirectory();
  const seen = join(folder, 'seen');
  writeFileSync(seen, '#!/bin/sh\necho "$@"\ncat "$3"\n');
  chmodSync(seen, 0o700);
  const ended = await run(asset('kube-apiserver'), [`--cert-dir=${folder}`, ...flags], { env: { KEDGE: seen } });
  return { ...ended, folder };
}

test('flags of kube-apiserver are translated to options of Kedge', async () => {
  const flags = ['--bind-address=127.0.0.1', '--secure-port=7443', '--client-ca-file=/ca', '--allow-privileged=true'];
  const issuer = '--service-account-issuer=https://127.0.0.1:7443/';
  const { code, folder, stdout } = await translated(...flags, issuer, '--service-account-signing-key-file=/sa.key');
  expect(code).toBe(0);
  for (const line of [
    `serve --config ${folder}/kedge.yaml --controllers crd-names,crd-established,crd-finalizer,policy-status,service-account`,
    'port: 7443',
    `serving: { certificateFile: '${folder}/apiserver.crt', keyFile: '${folder}/apiserver.key', caFile: '${folder}/apiserver.crt' }`,
    "clientCaFile: '/ca'",
    "  issuers: ['https://127.0.0.1:7443/']",
    "  signingKeyFile: '/sa.key'",
  ])
    expect(stdout.split('\n')).toContain(line);
});
