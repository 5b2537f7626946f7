import { getEventListeners } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import { type Logger, silentLogger } from '../../src/runtime/logger.js';
import { followText, NotYet, readText } from '../../src/runtime/text-source.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { eventually } from '../../src/testing/until.js';

let directory: string;
let file: string;
let stopping: AbortController;
let taken: string[];
let warned: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-text-'));
  file = join(directory, 'text');
  stopping = new AbortController();
  taken = [];
  warned = [];
});
afterEach(() => {
  stopping.abort();
  rmSync(directory, { recursive: true, force: true });
});
const log: Logger = { ...silentLogger, warn: (_fields, message) => void warned.push(message) };
let isEarly = true;
const take = (text: string): void => {
  if (text === 'bad') throw new Error('bad text');
  if (text === 'early' && isEarly) throw new NotYet('too early');
  taken.push(text);
};
const follow = (source: Parameters<typeof followText>[0], clock = systemClock) =>
  followText(source, take, { clock, log, signal: stopping.signal });
const replace = (text: string): void => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};

test('a literal text is used as it is', async () => {
  await follow('one');
  expect(taken).toEqual(['one']);
});

test('a file is read again when it is written or replaced', async () => {
  writeFileSync(file, 'one');
  await follow({ file });
  expect(taken).toEqual(['one']);
  writeFileSync(file, 'two');
  await eventually(
    () => taken.at(-1),
    (last) => last === 'two',
  );
  replace('three');
  await eventually(
    () => taken.at(-1),
    (last) => last === 'three',
  );
});

test('invalid contents are ignored with a warning', async () => {
  writeFileSync(file, 'one');
  await follow({ file });
  replace('bad');
  await eventually(
    () => warned.length,
    (count) => count > 0,
  );
  replace('two');
  await eventually(
    () => taken.at(-1),
    (last) => last === 'two',
  );
  expect(taken).toEqual(['one', 'two']);
  expect(new Set(warned)).toEqual(new Set(['still using the previous contents']));
});

test('contents that are too early are tried again a minute later', async () => {
  const clock = new FakeClock();
  writeFileSync(file, 'one');
  await follow({ file }, clock);
  replace('early');
  const look = async (): Promise<void> => clock.advance(60_050);
  await eventually(
    () => look().then(() => warned.length),
    (count) => count >= 2,
  );
  isEarly = false;
  await eventually(
    () => look().then(() => taken),
    (texts) => texts.length === 2,
  );
  expect(taken).toEqual(['one', 'early']);
});

test('an unreadable file is reported once, and loaded again when it is readable', async () => {
  writeFileSync(file, 'one');
  const clock = new FakeClock();
  let unreadable = 0;
  const following = { clock, log, signal: stopping.signal, unreadable: () => unreadable++ };
  await followText({ file }, take, following);
  const lookAgain = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) {
      await expect.poll(() => clock.sleeping).toBe(1);
      await clock.advance(60_050);
    }
    await expect.poll(() => clock.sleeping).toBe(1);
  };
  for (const told of [1, 2]) {
    rmSync(file);
    await lookAgain(4);
    expect([warned.length, unreadable]).toEqual([told, told]);
    replace('one');
    await lookAgain(2);
  }
  expect(taken).toEqual(['one', 'one', 'one']);
});

test('a change without a notification is found within a minute', async () => {
  writeFileSync(file, 'one');
  const clock = new FakeClock();
  await follow({ file }, clock);
  replace('two');
  const deadline = performance.now() + 20_000;
  while (taken.length < 2 && performance.now() < deadline) {
    await clock.advance(60_100);
    await settled();
  }
  expect(taken).toEqual(['one', 'two']);
});

test('polls without changes leave nothing behind', async () => {
  writeFileSync(file, 'one');
  const clock = new FakeClock();
  await follow({ file }, clock);
  await expect.poll(() => clock.sleeping).toBe(1);
  const listening = getEventListeners(stopping.signal, 'abort').length;
  for (let minute = 0; minute < 3; minute++) {
    await clock.advance(60_050);
    await expect.poll(() => clock.sleeping).toBe(1);
  }
  expect(getEventListeners(stopping.signal, 'abort')).toHaveLength(listening);
});

test('at the start the file must exist and be valid', async () => {
  await expect(follow({ file })).rejects.toThrow(`cannot read ${file}: ENOENT`);
  writeFileSync(file, 'bad');
  await expect(follow({ file })).rejects.toThrow(`${file}: bad text`);
  truncateSync(file, 16 * 1_048_576 + 1);
  await expect(follow({ file })).rejects.toThrow(`cannot read ${file}: it is larger than 16777216 bytes`);
});

test.runIf(existsSync('/dev/zero'))('an endless file is not read to its end', async () => {
  await expect(readText('/dev/zero')).rejects.toThrow('cannot read /dev/zero: it is larger than 16777216 bytes');
});

test('a missing or invalid file is reported with its option', async () => {
  const source = { file, option: 'part.textFile' };
  await expect(follow(source)).rejects.toThrow(`part.textFile: cannot read ${file}: ENOENT`);
  writeFileSync(file, 'bad');
  await expect(follow(source)).rejects.toThrow(`part.textFile: ${file}: bad text`);
});

test('a literal text in place of a path is not quoted in the error', async () => {
  const error: unknown = await readText('-----BEGIN PRIVATE KEY-----\ns3cret').catch((thrown: unknown) => thrown);
  expect(String(error)).toBe('Error: cannot read (a literal text, not a path): ENOENT');
  expect(inspect(error)).not.toContain('s3cret');
});
