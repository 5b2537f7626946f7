import { join } from 'node:path';
import { expect, test } from 'vitest';
import { session } from './session.js';
import { command, download, orSkip, prepared, unlessAll } from './toolchain.js';

const env = { GOFLAGS: '-mod=mod' };
const build = (): Promise<string> =>
  prepared(join(import.meta.dirname, 'go'), {
    locks: ['go.mod', 'go.sum'],
    download: (cwd) => download('go', ['mod', 'download'], { cwd, env }),
    compile: (cwd) => command('go', ['build', '-o', 'bin/', './session', './manager'], { cwd, env }),
  });

test('client-go completes a session', { timeout: 1_200_000 }, async (context) => {
  unlessAll(context);
  const folder = await orSkip(context, build);
  expect(await session({ command: join(folder, 'bin/session'), namespace: 'go-session' })).toEqual([
    'configuration',
    'discovery',
    'create and get',
    'list in pages',
    'watch',
    'update and conflict',
    'apply',
    'patch',
    'reviews and tokens',
    'access',
    'certificates',
    'pods and nodes',
    'custom resources',
    'informers through a restart',
    'delete',
  ]);
});

test('controller-runtime runs a manager', { timeout: 1_200_000 }, async (context) => {
  unlessAll(context);
  const folder = await orSkip(context, build);
  expect(await session({ command: join(folder, 'bin/manager'), namespace: 'go-manager' })).toEqual([
    'client',
    'definition',
    'manager',
    'leader election',
    'reconcile',
    'events',
    'owned objects',
    'restart',
    'finalizer',
    'stop',
  ]);
});
