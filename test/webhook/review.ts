import type { JsonObject } from '../../src/api/object.js';
import { systemClock } from '../../src/runtime/clock.js';
import type { Logger } from '../../src/runtime/logger.js';
import type { ReviewContext } from '../../src/webhook/webhook.js';
import { FakeClient } from '../fake-client.js';

/** Returns the request of a review about a ConfigMap. */
export const request = (members: JsonObject = {}): JsonObject => ({
  uid: 'u',
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  operation: 'CREATE',
  userInfo: { username: 'dora' },
  object: configMap({ a: '1' }),
  oldObject: null,
  dryRun: false,
  options: null,
  ...members,
});

export const configMap = (data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data,
});

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

/** Returns the context of a webhook, with its log lines. */
export function reviewContext(): ReviewContext & { readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const logger = (more: object): Logger => {
    const at = (level: string) => (fields: object, message: string) =>
      void lines.push({ level, message, fields: { ...more, ...fields } });
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => logger({ ...more, ...fields }),
    };
  };
  const signal = new AbortController().signal;
  return { client: new FakeClient(systemClock), clock: systemClock, log: logger({}), signal, lines };
}
