import { join } from 'node:path';
import { expect, test } from 'vitest';
import { session } from './session.js';
import { download, orSkip, prepared } from './toolchain.js';

const build = (): Promise<string> =>
  prepared(join(import.meta.dirname, 'python'), {
    locks: ['requirements.txt'],
    download: async (cwd) => {
      await download('python3', ['-m', 'venv', 'environment'], { cwd });
      await download(join(cwd, 'environment/bin/pip'), ['install', '--quiet', '--requirement', 'requirements.txt'], {
        cwd,
      });
    },
  });

test('the Python client completes a session', { timeout: 900_000 }, async (context) => {
  const folder = await orSkip(context, build);
  const python = join(folder, 'environment/bin/python');
  expect(await session({ command: python, args: [join(folder, 'session.py')], namespace: 'python-session' })).toEqual([
    'discovery',
    'create and get',
    'list in pages',
    'watching',
    'update and conflict',
    'apply',
    'patch',
    'reviews and tokens',
    'custom resources',
    'watch through a restart',
    'delete',
  ]);
});
