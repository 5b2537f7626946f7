import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';

import { bombs } from './bombs.js';
import { http2Bytes } from './frames.js';
import { requestsFor } from './generate.js';
import { hostileHook } from './hostile-hook.js';
import { complaints, type FuzzAnswer } from './judge.js';
import { attackedKinds } from './kinds.js';
import { largeRequests, largeWatches } from './large.js';
import { mutated } from './mutate.js';
import { type Random, randomFrom } from './random.js';
import { type FuzzRequest, readCorpus, shown } from './request.js';
import { story } from './stories.js';
import { openTarget, type Target } from './target.js';
import { type Turns, watchTurns } from './turns.js';
import { clear, definitions, inspections, mend, prepare, served, tidy } from './world.js';

/** Sends many faulty requests, one after another, and reports faults. The same seed produces the same requests. */

export interface CampaignOptions {
  readonly requests: number;
  readonly seed: number;
  /** The number of requests per server; after that a new server is started. */
  readonly perServer?: number;
  /** The longest time that the event loop may be blocked. */
  readonly maxBlockedMs?: number;
  /** The built-in controllers to run; without those for custom resources, there are none. */
  readonly controllers?: 'all' | readonly string[];
  /** Whether to include requests of megabytes. */
  readonly bombs?: boolean;
  /** Stop after this many faults. */
  readonly maxFinds?: number;
  readonly report?: (line: string) => void;
}

export interface Find {
  readonly what: string;
  /** The request, or the last one before the fault was noticed. */
  readonly request: FuzzRequest | undefined;
}

export interface Blocked {
  readonly ms: number;
  readonly request: FuzzRequest;
}

/** A request without its body: there are many of these, and bodies are large. */
export interface Unrepeated extends Pick<FuzzRequest, 'method' | 'url' | 'origin'> {
  readonly ms: number;
  readonly bytes: number;
}

export interface Outcome {
  readonly finds: readonly Find[];
  readonly asked: number;
  /** The number of responses with each status code; 0 stands for connections without a response. */
  readonly codes: Readonly<Record<string, number>>;
  readonly blockedMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Requests that took longer than allowed, but not when repeated, because of other work or garbage collection. */
  readonly unrepeated: readonly Unrepeated[];
  /** The bytes in use after each server had stopped, if garbage can be collected on demand. */
  readonly heaps: readonly number[];
}

/** The growth of the heap, from the second server to the last, beyond which there is a leak; in bytes. */
const heapSlack = 24 * 1_048_576;

export async function campaign({
  requests,
  seed,
  perServer = 20_000,
  maxBlockedMs = 100,
  controllers = 'all',
  bombs: withBombs = true,
  maxFinds = 20,
  report = () => {},
}: CampaignOptions): Promise<Outcome> {
  const corpus = readCorpus(`${import.meta.dirname}/corpus`);
  const kinds = attackedKinds();
  const arbitrary = requestsFor(kinds);
  const large = largeRequests(kinds);
  const finds: Find[] = [];
  const codes: Record<string, number> = {};
  const heaps: number[] = [];
  const unrepeated: Unrepeated[] = [];
  const turns = watchTurns();
  let last: FuzzRequest | undefined;
  const find = (what: string, request: FuzzRequest | undefined = last): void => {
    const kind = kindOf(what);
    if (finds.some((other) => kindOf(other.what) === kind)) return;
    finds.push({ what, request });
    report(`FOUND ${what}\n${request === undefined ? '' : shown(request)}`);
  };
  const onStray = (error: unknown): void =>
    find(`stray error: ${error instanceof Error ? error.stack : String(error)}`);
  process.on('unhandledRejection', onStray);
  process.on('uncaughtException', onStray);
  const prototypes = fingerprint();
  // The first stack that is read makes Node.js load all source maps, which would count as memory of a server.
  void new Error('first').stack;
  const hook = await hostileHook();
  let asked = 0;
  // A separate function, so that all that a server held can be collected when it returns.
  const attackServer = async (round: number): Promise<void> => {
    const random = randomFrom(seed + round * 7_919);
    // Every other server keeps its objects on disk, and must find them there again.
    const directory = round % 2 === 1 ? mkdtempSync(join(tmpdir(), 'kedge-fuzz-')) : undefined;
    const options = { store: directory === undefined ? 'memory:' : `level:${directory}`, controllers };
    const target = await openTarget(options);
    const wanted = Math.min(perServer, requests - asked);
    await mend(target);
    target.follow(largeWatches);
    const ways = { corpus, random, turns, maxBlockedMs, find, codes, unrepeated, target };
    let generated: readonly FuzzRequest[] = [];
    const names = Object.keys(bombs);
    const running = new Set<Promise<void>>();
    for (let count = 0; count < wanted && finds.length < maxFinds; count++, asked++) {
      if (generated.length === 0) {
        generated = fc.sample(arbitrary, { seed: seed + asked, numRuns: 100 });
        await new Promise(setImmediate);
      }
      const choice = random.below(100);
      if (choice === 99 && random.oneIn(3)) {
        const told = tell(random.oneIn(3) ? hook.story(random, asked) : story(random, asked), ways).catch(
          (error: unknown) => {
            find(`not answered: ${error instanceof Error ? error.stack : String(error)}`);
          },
        );
        running.add(told);
        void told.finally(() => running.delete(told));
      }
      if (withBombs && choice === 0 && random.oneIn(5))
        last = random.oneIn(2) ? large(random) : (bombs[random.pick(names)]?.() as FuzzRequest);
      else if (choice < 45) last = mutated(random.pick(corpus), random, corpus);
      else {
        const [next, ...rest] = generated;
        generated = rest;
        last = random.oneIn(4) ? mutated(next as FuzzRequest, random, corpus) : (next as FuzzRequest);
      }
      const one = attack(last, ways).catch((error: unknown) => {
        find(`not answered: ${error instanceof Error ? error.stack : String(error)}`);
      });
      running.add(one);
      void one.finally(() => running.delete(one));
      // Requests that wait for something continue beside the others.
      await Promise.race([one, new Promise((resolve) => setTimeout(resolve, 100).unref())]);
      while (running.size > 40) await Promise.race(running);
      for (const error of target.loggedErrors()) find(`logged: ${error}`);
      if (fingerprint() !== prototypes) find('a prototype was changed');
      if (count % 1_000 === 999) {
        await inspect(target, find);
        await mend(target);
        target.follow(largeWatches);
        if (count % 5_000 === 4_999) {
          await clear(target);
          await mend(target);
          report(`${asked + 1} requests, ${finds.length} finds, heap ${megabytes(process.memoryUsage().heapUsed)}`);
        }
      }
    }
    const end = Promise.all(running);
    const patience = new Promise((resolve) => setTimeout(() => resolve('late'), 70_000).unref());
    if ((await Promise.race([end, patience])) === 'late') find(`${running.size} requests were never answered`);
    await inspect(target, find);
    if (directory === undefined) await clear(target);
    await target.stop();
    for (const error of target.loggedErrors()) find(`logged: ${error}`);
    if (directory !== undefined) {
      const again = await openTarget(options);
      await inspect(again, find);
      await again.stop();
      for (const error of again.loggedErrors()) find(`logged: ${error}`);
      rmSync(directory, { recursive: true });
    }
  };
  try {
    for (let round = 0; asked < requests && finds.length < maxFinds; round++) {
      await attackServer(round);
      if (globalThis.gc !== undefined) heaps.push(await heapInUse());
    }
    // The first server also allocates what is kept permanently.
    const [, second = Number.POSITIVE_INFINITY] = heaps;
    const final = heaps.at(-1) ?? 0;
    if (heaps.length > 2 && final > second + heapSlack)
      find(`the heap grew from ${megabytes(second)} to ${megabytes(final)}`, undefined);
  } finally {
    process.off('unhandledRejection', onStray);
    process.off('uncaughtException', onStray);
    turns.stop();
    await hook.close();
  }
  return { finds, asked, codes, blockedMs: turns.histogram(), unrepeated, heaps };
}

interface Ways {
  readonly corpus: readonly FuzzRequest[];
  readonly random: Random;
  readonly turns: Turns;
  readonly maxBlockedMs: number;
  readonly target: Target;
  readonly codes: Record<string, number>;
  readonly unrepeated: Unrepeated[];
  find(what: string, request: FuzzRequest): void;
}

/** Sends one request in one of several ways; most are sent in process. */
async function attack(request: FuzzRequest, ways: Ways): Promise<void> {
  const { random, target } = ways;
  const way = random.below(100);
  if (way === 0) return target.bytes(http1Bytes(request, random), 'http/1.1');
  if (way === 1) return target.bytes(http2Bytes(random), 'h2');
  if (request.before === undefined) return void (await judge(request, way, ways));
  await prepare(target, request);
  await judge(request, way, ways);
  await tidy(target, request);
}

/** Sends requests that may depend on those before them. */
async function tell(requests: readonly FuzzRequest[], ways: Ways): Promise<void> {
  for (const request of requests) {
    const answer = await judge(request, 100, ways);
    if (request.method === 'POST' && request.url === definitions && answer?.code === 201)
      await served(ways.target, request);
  }
}

/** Sends a request, and checks the response and the time it took. */
async function judge(request: FuzzRequest, way: number, ways: Ways): Promise<FuzzAnswer | undefined> {
  const { target, turns, codes, find } = ways;
  turns.longest();
  const limit = patienceFor(request, ways.maxBlockedMs);
  const ask = way < 6 ? target.http1 : way < 10 ? target.http2 : target.ask;
  const answer: FuzzAnswer | undefined = await ask(request);
  await new Promise(setImmediate);
  codes[answer?.code ?? 0] = (codes[answer?.code ?? 0] ?? 0) + 1;
  // Over a socket, the status text of a response to HEAD is not visible.
  if (answer === undefined || (request.method === 'HEAD' && ask !== target.ask)) return answer;
  for (const what of await complaints(answer)) find(what, request);
  const ms = turns.longest();
  if (ms > limit && ask === target.ask) await confirmBlocked({ ms, request }, limit, ways);
  return answer;
}

/**
 * Returns how long a request may block the event loop. Bodies of more than a megabyte, which only users with write
 * permission can send, get half as much again.
 */
export const patienceFor = ({ body }: FuzzRequest, maxBlockedMs: number): number =>
  maxBlockedMs * (body.length > 1_048_576 ? 1.5 : 1);

/** Repeats a request that blocked the event loop, because other work may have been the cause. */
async function confirmBlocked(
  blocked: Blocked,
  maxBlockedMs: number,
  { target, turns, find, unrepeated }: Ways,
): Promise<void> {
  const { request } = blocked;
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && least > maxBlockedMs; tries++) {
    await prepare(target, request);
    await new Promise(setImmediate);
    turns.longest();
    await target.ask(request);
    await new Promise(setImmediate);
    least = Math.min(least, turns.longest());
  }
  if (least > maxBlockedMs)
    find(`the event loop was blocked for ${Math.round(least)} ms by ${request.origin}`, request);
  else {
    const { method, url, origin, body } = request;
    unrepeated.push({ ms: blocked.ms, method, url, origin, bytes: body.length });
  }
}

/** Checks that everything that was accepted can also be read. */
async function inspect(target: Target, find: (what: string, request: FuzzRequest) => void): Promise<void> {
  for (const request of inspections) {
    const answer = await target.ask(request);
    for (const what of await complaints(answer)) find(`afterwards: ${what}`, request);
    if (answer.code !== 200 && !(answer.code === 404 && request.url.includes('example.com')))
      find(`afterwards: ${answer.code} ${answer.body.toString().slice(0, 300)}`, request);
  }
}

function http1Bytes(request: FuzzRequest, random: Random): Buffer {
  const head = [`${request.method} ${request.url} HTTP/1.1`, 'host: a', `content-length: ${request.body.length}`];
  const whole = Buffer.concat([
    Buffer.from(`${[...head, ...request.headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`),
    request.body.subarray(0, 20_000),
  ]);
  return broken(whole, random);
}

function broken(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let left = random.below(6); left > 0; left--) copy[random.below(Math.min(copy.length, 400))] = random.below(256);
  return random.oneIn(3) ? copy.subarray(0, random.below(copy.length)) : copy;
}

/** Returns the kind of a fault; faults that differ only in names and numbers are the same. */
const kindOf = (what: string): string => what.replace(/"[^"]*"|\d+|\(.*?\)/g, '~').slice(0, 120);

/** Returns the members of the prototypes that all objects share. */
const fingerprint = (): string =>
  [Object, Array, Function, String, Map, Promise]
    .map(
      ({ prototype }) => Object.getOwnPropertyNames(prototype).length + Object.getOwnPropertySymbols(prototype).length,
    )
    .join();

async function heapInUse(): Promise<number> {
  for (let left = 3; left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`;
