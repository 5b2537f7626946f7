import { setMaxListeners } from 'node:events';
import type { ApiObject } from '../api/object.js';
import type { Client } from '../client/client.js';
import type { ReconcileContext, Runnable } from '../controller/controller.js';
import { createManager } from '../controller/manager.js';
import type { Webhook } from '../webhook/webhook.js';
import { type AccountKey, findAccount } from './account.js';
import { install } from './install.js';
import type { Refusals } from './refusals.js';
import { serveWebhooks } from './served-webhooks.js';

export interface ActorsOptions extends Omit<ReconcileContext, 'client' | 'signal'> {
  readonly webhooks: Readonly<Record<string, Webhook>> | undefined;
  readonly objects: readonly ApiObject[];
  readonly runnables: readonly Runnable[];
  /** The grace period of the runnables; undefined for the manager's default. */
  readonly graceMs: number | undefined;
  /** The account that all actors use, unless they act as the test's user. */
  readonly runAs: AccountKey | undefined;
  /** Records the requests of the account that were refused, from the start of the runnables on. */
  readonly refusals: Refusals;
  /** The client that creates the objects. */
  readonly admin: Client;
  /** Returns a client that acts as the actors; the uid of the account is unknown until it is created. */
  clientOf(uid?: string): Client;
}

/** The webhooks and runnables that run during a test. */
export interface Actors {
  /** Settles when the runnables have ended; rejects with the error of one that failed. */
  readonly running: Promise<void>;
  /** Ends the runnables, then the webhooks, so that pending writes still get responses; rejects as `running` does. */
  stop(): Promise<void>;
}

/** Serves the webhooks, creates the objects and runs the runnables. If any of these fails, nothing is left running. */
export async function startActors(options: ActorsOptions): Promise<Actors> {
  const { webhooks, objects, runnables, graceMs, runAs, refusals, admin, clientOf, clock, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal);
  const served = webhooks && (await serveWebhooks(webhooks, { client: clientOf(), clock, log, signal }));
  try {
    await install(admin, objects, (object) => served?.redirected(object) ?? object);
    const account = runAs && (await findAccount(admin, runAs));
    const limit = graceMs === undefined ? {} : { graceMs };
    const manager = createManager({ client: clientOf(account?.metadata.uid), clock, log, ...limit }).add(...runnables);
    if (runAs !== undefined) refusals.watch(runAs);
    const running = runnables.length > 0 ? manager.run(signal) : Promise.resolve();
    return {
      running,
      async stop() {
        stopping.abort();
        try {
          await running;
        } finally {
          await served?.stop();
        }
      },
    };
  } catch (error) {
    stopping.abort();
    await served?.stop();
    throw error;
  }
}
