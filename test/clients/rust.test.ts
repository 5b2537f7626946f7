import { join } from 'node:path';
import { expect, test } from 'vitest';
import { session } from './session.js';
import { command, download, orSkip, prepared, unlessAll } from './toolchain.js';

const build = (): Promise<string> =>
  prepared(join(import.meta.dirname, 'rust'), {
    locks: ['Cargo.toml'],
    download: (cwd) => download('cargo', ['fetch', '--quiet'], { cwd }),
    compile: (cwd) =>
      command('cargo', ['build', '--quiet', '--offline'], { cwd, env: { CARGO_TARGET_DIR: join(cwd, 'target') } }),
  });

test('kube (Rust) completes a session', { timeout: 1_200_000 }, async (context) => {
  unlessAll(context);
  const folder = await orSkip(context, build);
  expect(await session({ command: join(folder, 'target/debug/kedge-session'), namespace: 'rust-session' })).toEqual([
    'discovery',
    'create and get',
    'list in pages',
    'watch',
    'update and conflict',
    'apply',
    'patch',
    'tokens',
    'custom resources',
    'reflectors through a restart',
    'delete',
  ]);
});
