import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasOpenssl: boolean = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('openssl is missing: what it would verify is skipped');

/** Runs openssl with files of these names; returns its standard output and error. Throws if it fails. */
export function openssl(files: Readonly<Record<string, string>>, ...args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'kedge-openssl-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
