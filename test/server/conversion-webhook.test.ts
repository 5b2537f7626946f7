import { expect, test } from 'vitest';
import { CallFailed, type WebhookClient } from '../../src/admission/webhooks/webhook-client.js';
import type { CustomResourceDefinition } from '../../src/api/kinds/custom-resource-definition.js';
import type { JsonObject } from '../../src/api/object.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLogger } from '../../src/runtime/logger.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { conversionMetrics } from '../../src/server/conversion-metrics.js';
import { conversionWebhook } from '../../src/server/conversion-webhook.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ws.g.example.com' },
  spec: {
    group: 'g.example.com',
    versions: [{ name: 'v1' }, { name: 'v2' }],
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://h.example.com/' } },
    },
  },
} as unknown as CustomResourceDefinition;
const object = (version: string): JsonObject => ({
  apiVersion: `g.example.com/${version}`,
  kind: 'W',
  metadata: { name: 'w', uid: 'u' },
});

type Answer = (uid: string) => object;
const success = { status: 'Success' };

test.each<[string, Answer, string]>([
  [
    'a response',
    (uid) => ({ uid, convertedObjects: [object('v2')], result: success }),
    'failure_type="",result="success"',
  ],
  [
    'a failed call',
    () => {
      throw new CallFailed('no');
    },
    'failure_type="conversion_webhook_call_failure",result="failure"',
  ],
  [
    'a response to another request',
    () => ({ uid: 'x', convertedObjects: [object('v2')], result: success }),
    'failure_type="conversion_webhook_malformed_response_failure",result="failure"',
  ],
  [
    'too few objects',
    (uid) => ({ uid, convertedObjects: [], result: success }),
    'failure_type="conversion_webhook_partial_response_failure",result="failure"',
  ],
  [
    'an object of another version',
    (uid) => ({ uid, convertedObjects: [object('v3')], result: success }),
    'failure_type="conversion_webhook_invalid_converted_object_failure",result="failure"',
  ],
])('%s is counted', async (_, answer, labels) => {
  const metrics = openMetrics();
  const client: WebhookClient = {
    post: async ({ body }) => {
      const review = JSON.parse(body) as { readonly request: { readonly uid: string } };
      const text = JSON.stringify({ ...review, response: answer(review.request.uid) });
      return { status: 200, contentType: 'application/json', body: Buffer.from(text) };
    },
    close: () => {},
  };
  const convert = conversionWebhook(definition, {
    client,
    services: new Map(),
    api: 'k8s.io',
    clock: systemClock,
    log: silentLogger,
    metrics: conversionMetrics(metrics),
  });
  await convert?.([object('v1')], 'g.example.com/v2').catch(() => {});
  const { text } = await metrics.expose();
  const counted = text
    .split('\n')
    .filter((line) => /^apiserver_conversion_webhook_(request_total|duration_seconds_count)/.test(line));
  const sorted = (line: string): string =>
    `${line.replace(/\{.*/, '')} ${/\{(.*)\}/.exec(line)?.[1]?.split(',').sort().join()} ${line.split(' ').at(-1)}`;
  expect(counted.map(sorted).sort()).toEqual([
    `apiserver_conversion_webhook_duration_seconds_count ${labels} 1`,
    `apiserver_conversion_webhook_request_total ${labels} 1`,
  ]);
});

test('a failing webhook is logged once, and every ten minutes while that lasts', async () => {
  const clock = new FakeClock();
  const lines: object[] = [];
  const client: WebhookClient = { post: () => Promise.reject(new CallFailed('connection refused')), close: () => {} };
  const log = { ...silentLogger, warn: (fields: object, message: string) => void lines.push({ message, ...fields }) };
  const convert = conversionWebhook(definition, { client, services: new Map(), api: 'k8s.io', clock, log });
  const fails = () => expect(convert?.([object('v1')], 'g.example.com/v2')).rejects.toThrow('connection refused');
  for (let i = 0; i < 3; i++) await fails();
  const err = expect.objectContaining({ message: expect.stringContaining('connection refused'), stack: undefined });
  const line = { message: 'a conversion webhook failed', definition: 'ws.g.example.com', to: 'g.example.com/v2', err };
  expect(lines).toEqual([line]);
  await clock.advance(600_000);
  await fails();
  expect(lines).toEqual([line, line]);
});
