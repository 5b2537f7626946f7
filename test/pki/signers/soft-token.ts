import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyPair } from '../../../src/pki/certificate-authority.js';

/** The path of SoftHSM's library, if it and the package for PKCS#11 are installed; otherwise undefined. */
export const softHsm: string | undefined = findSoftHsm();
if (softHsm === undefined) console.warn('softhsm2 or the package pkcs11js is missing: keys in tokens are not tried');

interface Package {
  readonly PKCS11: new () => {
    load(library: string): void;
    C_GetSlotList(tokenPresent: boolean): readonly Buffer[];
    C_CloseAllSessions(slot: Buffer): void;
  };
}
const loadPackage = (): Package => createRequire(import.meta.url)('pkcs11js') as Package;

function findSoftHsm(): string | undefined {
  try {
    createRequire(import.meta.url).resolve('pkcs11js');
  } catch {
    return undefined;
  }
  if (spawnSync('softhsm2-util', ['--version']).status !== 0) return undefined;
  const library = 'softhsm/libsofthsm2.so';
  return [
    '/usr/lib',
    '/usr/lib64',
    '/usr/local/lib',
    `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`,
  ]
    .map((folder) => join(folder, library))
    .find((path) => existsSync(path));
}

/** Creates a token with the keys of these CAs, each under its label; SOFTHSM2_CONF refers to it until it is removed. */
export function softToken(keys: Readonly<Record<string, KeyPair>>): {
  readonly token: string;
  readonly pin: string;
  /** Closes every session of this process. */
  closeSessions(library: string): void;
  remove(): void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'kedge-token-'));
  mkdirSync(join(folder, 'tokens'));
  writeFileSync(join(folder, 'softhsm2.conf'), `directories.tokendir = ${join(folder, 'tokens')}\nlog.level = ERROR\n`);
  process.env['SOFTHSM2_CONF'] = join(folder, 'softhsm2.conf');
  const [token, pin] = ['kedge', '1234'];
  const run = (...args: readonly string[]): void =>
    void execFileSync('softhsm2-util', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  run('--init-token', '--free', '--label', token, '--pin', pin, '--so-pin', '4321');
  for (const [at, [label, { key }]] of Object.entries(keys).entries()) {
    writeFileSync(join(folder, 'key.pem'), key);
    const id = `0${at + 1}`;
    run('--import', join(folder, 'key.pem'), '--token', token, '--label', label, '--id', id, '--pin', pin);
    rmSync(join(folder, 'key.pem'));
  }
  return {
    token,
    pin,
    closeSessions(library) {
      const module = new (loadPackage().PKCS11)();
      module.load(library);
      for (const slot of module.C_GetSlotList(true)) module.C_CloseAllSessions(slot);
    },
    remove() {
      delete process.env['SOFTHSM2_CONF'];
      rmSync(folder, { recursive: true });
    },
  };
}
