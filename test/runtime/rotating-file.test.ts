import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRotatingFile, streamSink } from '../../src/runtime/rotating-file.js';
import { eventually } from '../../src/testing/until.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rotating-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('lines are appended in order, with access for the owner only', async () => {
  const path = join(folder, 'new/log');
  for (const round of [1, 2]) {
    const file = await openRotatingFile({ path, maxBytes: 0, maxBackups: 0 });
    for (let line = 0; line < 3; line++) expect(file.write(`${round}.${line}\n`)).toBe(true);
    await file.close();
    expect(file.write('late\n')).toBe(false);
  }
  expect(await readFile(path, 'utf8')).toBe('1.0\n1.1\n1.2\n2.0\n2.1\n2.2\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('an existing file is restricted to its owner, also behind a link', async () => {
  const path = join(folder, 'log');
  await writeFile(join(folder, 'open'), 'before\n', { mode: 0o644 });
  await symlink('open', path);
  const file = await openRotatingFile({ path, maxBytes: 0, maxBackups: 0 });
  file.write('after\n');
  await file.close();
  expect(await readFile(join(folder, 'open'), 'utf8')).toBe('before\nafter\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a file whose mode cannot be changed is written to, and reported', async () => {
  const path = join(folder, 'log');
  await writeFile(path, '', { mode: 0o644 });
  const probe = await open(path);
  const handles: object = Object.getPrototypeOf(probe);
  await probe.close();
  const refused = new Error('not the owner');
  const chmod = vi.spyOn(handles as typeof probe, 'chmod').mockRejectedValue(refused);
  const told: unknown[] = [];
  const file = await openRotatingFile({ path, maxBytes: 0, maxBackups: 0, onExposed: (error) => told.push(error) });
  chmod.mockRestore();
  file.write('line\n');
  await file.close();
  expect(told).toEqual([refused]);
  expect(await readFile(path, 'utf8')).toBe('line\n');
});

test('old files are deleted at the next rotation', async () => {
  const path = join(folder, 'log');
  const day = 86_400_000;
  const now = Date.now();
  for (const [number, days] of [1, 2, 3].entries()) {
    const old = `${path}.${number + 1}`;
    await writeFile(old, `${days}\n`);
    await utimes(old, new Date(now - days * day), new Date(now - days * day));
  }
  const file = await openRotatingFile({ path, maxBytes: 10, maxBackups: 9, maxAgeMs: 2.5 * day, now: () => now });
  for (let line = 0; line < 2; line++) file.write(`line${line}\n`);
  await file.close();
  expect((await readdir(folder)).sort()).toEqual(['log', 'log.1', 'log.2', 'log.3']);
  const texts = await Promise.all(['log.3', 'log.2', 'log.1'].map((name) => readFile(join(folder, name), 'utf8')));
  expect(texts).toEqual(['2\n', '1\n', 'line0\n']);
});

test('a full file is kept as a backup, up to the maximum number', async () => {
  const path = join(folder, 'log');
  const file = await openRotatingFile({ path, maxBytes: 10, maxBackups: 2 });
  for (let line = 0; line < 9; line++) file.write(`line${line}\n`);
  await file.close();
  expect((await readdir(folder)).sort()).toEqual(['log', 'log.1', 'log.2']);
  const texts = await Promise.all(['log.2', 'log.1', 'log'].map((name) => readFile(join(folder, name), 'utf8')));
  expect(texts).toEqual(['line6\n', 'line7\n', 'line8\n']);
});

test('only existing backups are renamed, whatever the maximum', async () => {
  const path = join(folder, 'log');
  await writeFile(`${path}.1`, 'old1\n');
  await writeFile(`${path}.3`, 'old3\n');
  const file = await openRotatingFile({ path, maxBytes: 5, maxBackups: 1_000_000_000 });
  file.write('one\n');
  file.write('two\n');
  await file.close();
  const found = (await readdir(folder)).sort();
  expect(found).toEqual(['log', 'log.1', 'log.2', 'log.3']);
  const texts = await Promise.all(found.map((name) => readFile(join(folder, name), 'utf8')));
  expect(texts).toEqual(['two\n', 'one\n', 'old1\n', 'old3\n']);
});

test('backups beyond the maximum are kept', async () => {
  const path = join(folder, 'log');
  for (const number of [1, 2, 3]) await writeFile(`${path}.${number}`, `old${number}\n`);
  const file = await openRotatingFile({ path, maxBytes: 5, maxBackups: 2 });
  file.write('one\n');
  file.write('two\n');
  await file.close();
  const found = (await readdir(folder)).sort();
  const texts = await Promise.all(found.map((name) => readFile(join(folder, name), 'utf8')));
  expect(texts).toEqual(['two\n', 'one\n', 'old1\n', 'old3\n']);
});

test('without backups a full file is truncated', async () => {
  const path = join(folder, 'log');
  const file = await openRotatingFile({ path, maxBytes: 12, maxBackups: 0 });
  for (let line = 0; line < 5; line++) file.write(`line${line}\n`);
  await file.close();
  expect(await readdir(folder)).toEqual(['log']);
  expect(await readFile(path, 'utf8')).toBe('line3\nline4\n');
});

test('the number of waiting bytes is limited, and writers never wait', async () => {
  const file = await openRotatingFile({ path: join(folder, 'log'), maxBytes: 0, maxBackups: 0, maxWaiting: 10 });
  // The first line is written immediately and does not count as waiting.
  expect([file.write('123456\n'), file.write('12345678\n'), file.write('12\n')]).toEqual([true, true, false]);
  await file.close();
  expect(await readFile(join(folder, 'log'), 'utf8')).toBe('123456\n12345678\n');
});

test('lines that cannot be written are dropped and reported, and later ones are written again', async () => {
  const failures: unknown[] = [];
  const path = join(folder, 'sub/log');
  const file = await openRotatingFile({
    path,
    maxBytes: 5,
    maxBackups: 1,
    onFailure: (error, lost) => failures.push([error, lost]),
  });
  file.write('one\n');
  await eventually(
    () => readFile(path, 'utf8'),
    (text) => text === 'one\n',
  );
  // The directory is gone, and cannot be created again because a file has its name.
  await rm(join(folder, 'sub'), { recursive: true });
  await writeFile(join(folder, 'sub'), '');
  file.write('lost\n');
  await eventually(
    () => failures.length,
    (count) => count === 1,
  );
  expect(failures).toEqual([[expect.objectContaining({ code: 'ENOTDIR' }), 1]]);
  await rm(join(folder, 'sub'));
  await mkdir(join(folder, 'sub'));
  file.write('two\n');
  await file.close();
  expect(await readFile(path, 'utf8')).toBe('two\n');
});

test('a file that cannot be opened fails at once', async () => {
  await expect(openRotatingFile({ path: folder, maxBytes: 0, maxBackups: 0 })).rejects.toThrow('EISDIR');
});

test('a stream that does not drain gets no more lines', () => {
  const taken: string[] = [];
  const stream = { write: (text: string) => taken.push(text), writableLength: 0 };
  const sink = streamSink(stream, 10);
  expect(sink.write('a\n')).toBe(true);
  stream.writableLength = 9;
  expect(sink.write('b\n')).toBe(false);
  stream.writableLength = 0;
  expect(sink.write('c\n')).toBe(true);
  expect(taken).toEqual(['a\n', 'c\n']);
});
