import { expect, test } from 'vitest';
import { eventually } from '../../src/testing/until.js';
import { ReviewIntake } from '../../src/webhook/review-intake.js';

const large = 2_000_000;

/** Returns work that ends once `finish` is called. */
function job(log: string[], name: string) {
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const work = async (): Promise<void> => {
    log.push(name);
    await done;
  };
  return { work, finish };
}

const { signal: heard } = new AbortController();

test('large bodies are answered in the order in which they came, one at a time', async () => {
  const intake = new ReviewIntake();
  const log: string[] = [];
  const [first, second, third] = [job(log, 'first'), job(log, 'second'), job(log, 'third')];
  const gone = new AbortController();
  const answers = [
    intake.answering(large, heard, first.work),
    intake.answering(large, gone.signal, second.work),
    intake.answering(large, heard, third.work),
  ];
  await intake.answering(1_000, heard, async () => void log.push('small'));
  expect(log).toEqual(['first', 'small']);
  gone.abort(new Error('left'));
  await expect(answers[1]).rejects.toThrow('left');
  first.finish();
  third.finish();
  await Promise.all([answers[0], answers[2]]);
  expect(log).toEqual(['first', 'small', 'third']);
});

test('work that nobody waits for any more does not block the queue', async () => {
  const intake = new ReviewIntake();
  const log: string[] = [];
  const gone = new AbortController();
  const stuck = job(log, 'stuck');
  const left = intake.answering(large, gone.signal, stuck.work);
  const next = intake.answering(large, heard, async () => void log.push('next'));
  await eventually(
    async () => log,
    ({ length }) => length > 0,
  );
  gone.abort();
  await next;
  expect(log).toEqual(['stuck', 'next']);
  stuck.finish();
  await left;
  const leavesAtOnce = new AbortController();
  const unheard = intake.answering(large, leavesAtOnce.signal, async () => void log.push('unheard'));
  leavesAtOnce.abort();
  await expect(unheard).rejects.toBe(leavesAtOnce.signal.reason);
  expect(log).toEqual(['stuck', 'next']);
  await expect(intake.answering(large, gone.signal, async () => {})).rejects.toBe(gone.signal.reason);
});

test('a caller that leaves makes room for smaller reviews behind it', async () => {
  const intake = new ReviewIntake();
  const log: string[] = [];
  const jobs = Array.from({ length: 8 }, (_, at) => job(log, `job ${at}`));
  const answers = jobs.map(({ work }) => intake.answering(1_000_000, heard, work));
  const gone = new AbortController();
  const first = intake.answering(1_000_000, gone.signal, async () => void log.push('first'));
  const behind = intake.answering(1_000, heard, async () => void log.push('behind'));
  gone.abort();
  await expect(first).rejects.toBe(gone.signal.reason);
  await behind;
  expect(log.slice(8)).toEqual(['behind']);
  for (const { finish } of jobs) finish();
  await Promise.all(answers);
});

test('other reviews run side by side up to the limit, and a failed one frees its room', async () => {
  const intake = new ReviewIntake();
  const log: string[] = [];
  const jobs = Array.from({ length: 9 }, (_, at) => job(log, `job ${at}`));
  const answers = jobs.map(({ work }) => intake.answering(1_000_000, heard, work));
  const failing = intake.answering(1_000_000, heard, () => Promise.reject(new Error('failed')));
  await Promise.resolve();
  expect(log).toHaveLength(8);
  for (const { finish } of jobs) finish();
  await Promise.all(answers);
  await expect(failing).rejects.toThrow('failed');
  await Promise.all(jobs.map(() => intake.answering(1_000_000, heard, async () => {})));
});
