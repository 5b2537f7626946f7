import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { document } from '../../src/store/document.js';
import { openStore } from '../../src/store/open.js';
import { StoreUnavailable } from '../../src/store/store-unavailable.js';

const directory = mkdtempSync(join(tmpdir(), 'open-store-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const options = { clock: systemClock, log: silentLogger };

test.each([
  ['memory:', undefined],
  [`level:${relative('.', join(directory, 'relative'))}`, 'relative'],
  [`level:${join(directory, 'absolute')}`, 'absolute'],
])('%s is a store', async (address, made) => {
  const store = await openStore(address, options);
  await store.commit({ key: '/a', document: document(1), expect: 'absent' });
  expect(await store.revision()).toBe(1n);
  await store.close();
  if (made !== undefined) expect(existsSync(join(directory, made))).toBe(true);
});

const schemes = 'an address must be one of memory:, level:, etcd:';
const endpoints = 'etcd: needs [https://]HOST:PORT, or several of them, comma-separated';
test.each([
  ['', schemes],
  ['memory', schemes],
  ['redis:localhost:6379', schemes],
  ['constructor:', schemes],
  ['memory:here', 'memory: takes no argument'],
  ['level:', 'level: needs a directory'],
  ['etcd:', endpoints],
  ['etcd:localhost', endpoints],
  ['etcd:localhost:0', endpoints],
  ['etcd:localhost:65536', endpoints],
  ['etcd:ftp://localhost:2379', endpoints],
  ['etcd:https://localhost', endpoints],
  ['etcd:https://localhost:2379/', endpoints],
  ['etcd:a:1,', endpoints],
])('%j is refused', async (address, why) => {
  const opening = openStore(address, options);
  await expect(opening).rejects.toThrow(StoreUnavailable);
  await expect(opening).rejects.toThrow(`the store address ${JSON.stringify(address)} is not valid: ${why}`);
});

test('etcd options are for etcd only; one that another store would ignore is refused', async () => {
  const etcd = { prefix: '/other', caFile: 'ca.crt', user: undefined };
  await expect(openStore('memory:', { ...options, etcd })).rejects.toThrow(
    / is not valid: the options etcd\.caFile are/,
  );
  const store = await openStore('memory:', { ...options, etcd: { prefix: '/other' } });
  await store.close();
});
