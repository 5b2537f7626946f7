import type { Runnable } from '../../src/controller/controller.js';
import { createManager } from '../../src/controller/manager.js';
import type { Logger } from '../../src/runtime/logger.js';
import { FakeClock, settled } from '../../src/testing/fake-clock.js';
import { FakeClient } from '../fake-client.js';

export interface World {
  readonly clock: FakeClock;
  readonly client: FakeClient;
  /** The log lines at levels warn and error. */
  readonly complaints: readonly string[];
  /** The log lines at level info, except those of each reconcile. */
  readonly news: readonly object[];
  stop(): Promise<void>;
}

/** Runs controllers against an API in memory; `prepare` fills it before they start. */
export async function runControllers(
  runnables: readonly Runnable[],
  prepare: (client: FakeClient, clock: FakeClock) => unknown = () => {},
): Promise<World> {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  await prepare(client, clock);
  const complaints: string[] = [];
  const complain = (fields: object, message: string): void => {
    const { err } = fields as { readonly err?: unknown };
    complaints.push(`${message}: ${err instanceof Error ? err.message : ''}`);
  };
  const news: object[] = [];
  const info = (fields: object, message: string): void => {
    if (message !== 'reconciled') news.push({ message, ...fields });
  };
  const log: Logger = { debug: () => {}, info, warn: complain, error: complain, child: () => log };
  const stopping = new AbortController();
  const running = createManager({ client, clock, log })
    .add(...runnables)
    .run(stopping.signal);
  await settled();
  return {
    clock,
    client,
    complaints,
    news,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
