import { join } from 'node:path';
import { expect, test } from 'vitest';
import { session } from './session.js';

test('@kubernetes/client-node completes a session', { timeout: 300_000 }, async () => {
  const program = join(import.meta.dirname, 'node/session.mjs');
  expect(await session({ command: process.execPath, args: [program], namespace: 'node-session' })).toEqual([
    'discovery',
    'create and get',
    'list in pages',
    'watch',
    'update and conflict',
    'apply',
    'patch',
    'reviews and tokens',
    'custom resources',
    'informer through a restart',
    'delete',
  ]);
});
