import { messageOf } from '../api/message-of.js';
import type { Client } from '../client/client.js';
import { BoundedMap } from '../runtime/bounded-map.js';
import type { Logger } from '../runtime/logger.js';

/** The number of objects whose failures are kept, and the number of failures shown. */
const limits = { remembered: 1_000, told: 3 };

/** Collects failures that controllers under test log about objects, for the message of a wait that times out. */
export class ReportedFailures {
  /** The last failure by each controller for each object, the newest last. */
  readonly #last = new BoundedMap<string, string>(limits.remembered);

  /** Returns a logger that records failures and passes every line on. */
  recordingLogger(log: Logger, bound: Fields = {}): Logger {
    const hear =
      (level: 'info' | 'warn' | 'error') =>
      (fields: object, message: string): void => {
        const { controller, object, err }: Fields = { ...bound, ...fields };
        const subject = `(${[controller, object].filter((part) => part !== undefined).join(', ')})`;
        if (message === 'reconciled') this.#last.delete(subject);
        else if (level !== 'info' && object !== undefined)
          this.#last.set(subject, `${message} ${subject}${err === undefined ? '' : `: ${messageOf(err)}`}`);
        log[level](fields, message);
      };
    return {
      debug: (fields, message) => log.debug(fields, message),
      info: hear('info'),
      warn: hear('warn'),
      error: hear('error'),
      child: (fields) => this.recordingLogger(log.child(fields), { ...bound, ...fields }),
    };
  }

  /** Makes `failuresReportedTo` return these failures for resources of the client. Returns the client itself. */
  attachTo(client: Client): Client {
    const { resource } = client;
    const noting: Client['resource'] = (type) => {
      const created = resource(type);
      heard.set(created, this);
      return created;
    };
    return Object.assign(client, { resource: noting });
  }

  text(): string {
    return [...this.#last.values()].slice(-limits.told).join('; ');
  }
}

interface Fields {
  readonly controller?: unknown;
  readonly object?: unknown;
  readonly err?: unknown;
}

const heard = new WeakMap<object, ReportedFailures>();

/** Returns the failures meanwhile for a resource of a test server's client; empty if there were none. */
export const failuresReportedTo = (resource: object): string => heard.get(resource)?.text() ?? '';
