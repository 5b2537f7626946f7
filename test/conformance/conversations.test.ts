import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createServer, type Server } from '../../src/embed.js';
import { controllerNames } from '../../src/server/controller-names.js';
import { eventually } from '../../src/testing/until.js';
import { type EtcdProcess, etcdInstalled, startEtcd } from '../store/etcd/etcd-process.js';
import { type Answer, type Caller, createCaller } from './caller.js';
import { observe, withoutOrder } from './observe.js';
import { at, fill, readTranscripts, type Step, type Transcript } from './transcript.js';

/**
 * Conversations recorded with kube-apiserver 1.36, repeated with this server: every response must match, including its
 * body.
 */

if (!etcdInstalled) console.warn('There is no etcd on the PATH: no conversation is held with servers that share one.');

describe.each(['machinery', 'identity', 'certificates', 'podcertificates', 'customresources'])('%s', (area) => {
  conversations(
    area,
    serving(() => createServer({ listen: { port: 0 } })),
  );
});

/** Recorded without the controller that writes the status of policies. */
describe('policies', () => {
  const controllers = controllerNames.filter((name) => name !== 'policy-status');
  conversations(
    'policies',
    serving(() => createServer({ controllers, listen: { port: 0 } })),
  );
});

describe('machinery, stored in LevelDB', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'kedge-conversations-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  const start = (): Promise<Server> => createServer({ store: `level:${directory}`, listen: { port: 0 } });
  conversations('machinery', serving(start));
});

describe.skipIf(!etcdInstalled)('machinery, with requests alternating between two servers that share an etcd', () => {
  let dataDir: string;
  let etcd: EtcdProcess;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'kedge-conversations-'));
    etcd = await startEtcd();
  });
  afterAll(async () => {
    await etcd.stop();
    rmSync(dataDir, { recursive: true });
  });
  const start = (): Promise<Server> => createServer({ store: `etcd:${etcd.endpoint}`, dataDir, listen: { port: 0 } });
  conversations('machinery', serving(start, start));
});

function conversations(area: string, caller: Pick<Caller, 'send'>): void {
  test.each(readTranscripts(join(import.meta.dirname, 'transcripts', area)))('$name: $about', async (transcript) => {
    for await (const { step, expected, actual } of play(transcript, caller)) {
      expect({ step, ...actual }).toEqual({ step, ...expected });
    }
  });
}

/** Starts the servers for the tests of a suite. Every request goes to the one whose turn it is. */
function serving(...starts: readonly (() => Promise<Server>)[]): Pick<Caller, 'send'> {
  const servers: Server[] = [];
  const callers: Caller[] = [];
  beforeAll(async () => {
    for (const start of starts) servers.push(await start());
    callers.push(...servers.map((server) => createCaller(targetOf(server))));
  });
  afterAll(async () => {
    for (const caller of callers) caller.close();
    for (const server of servers) await server.stop();
  });
  let sent = 0;
  return { send: (step) => (callers[sent++ % callers.length] as Caller).send(step) };
}

/**
 * Yields both sides of every step, in the form that is compared. Parts missing in an expected response are removed from
 * both.
 */
async function* play({ steps }: Transcript, caller: Pick<Caller, 'send'>) {
  const variables = new Map<string, string>();
  for (const step of steps) {
    const answer = await ask(caller, fill(step, variables));
    for (const [name, pointer] of Object.entries(step.capture ?? {})) {
      variables.set(name, String(at(parseOrUndefined(answer.text.trimEnd().split('\n').at(-1) ?? ''), pointer) ?? ''));
    }
    if (step.response === undefined) continue;
    const said = new Set(Object.keys(step.response));
    const actual = Object.fromEntries(Object.entries(observe(answer, step)).filter(([part]) => said.has(part)));
    yield { step: step.id, expected: withoutOrder(step.response), actual: withoutOrder(actual) };
  }
}

const ask = (caller: Pick<Caller, 'send'>, step: Step): Promise<Answer> =>
  step.until === undefined
    ? caller.send(step)
    : eventually(
        () => caller.send(step),
        (answer) => holds(answer, step.until),
        { what: step.id },
      );

function holds({ status, text }: Answer, until: Step['until']): boolean {
  if (until?.status !== undefined && until.status !== status) return false;
  if (until?.pointer === undefined) return true;
  const value = at(parseOrUndefined(text), until.pointer);
  return until.equals === undefined ? value !== undefined : JSON.stringify(value) === JSON.stringify(until.equals);
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function targetOf({ url = '', ca, adminKubeconfig }: Server) {
  const { users } = parse(adminKubeconfig) as { readonly users: readonly { readonly user: Record<string, string> }[] };
  const decoded = (name: string): string => Buffer.from(users[0]?.user[name] ?? '', 'base64').toString();
  return { url, ca, certificate: decoded('client-certificate-data'), key: decoded('client-key-data') };
}
