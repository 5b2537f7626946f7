import { expect, test } from 'vitest';
import type { Catalogue } from '../../../src/apiserver/catalogue.js';
import { RequestMetrics } from '../../../src/apiserver/operations/request-metrics.js';
import type { ApiRequest } from '../../../src/apiserver/request.js';
import { configMaps } from '../../../src/resources/configmaps/definition.js';
import { openMetrics } from '../../../src/runtime/metrics.js';
import { collectGarbage } from '../../collect-garbage.js';

test('the SLI duration excludes the time of webhooks', async () => {
  const metrics = openMetrics();
  const catalogue = { current: () => ({ find: () => configMaps }) } as unknown as Catalogue;
  const info = { isResource: true, verb: 'create', group: '', version: 'v1', resource: 'configmaps', subresource: '' };
  const request = { info, method: 'POST', query: { all: () => [] } } as unknown as ApiRequest;
  new RequestMetrics(metrics, catalogue).of(request).answered(201, 1, 10, 0.75);
  const { text } = await metrics.expose();
  expect(text).toMatch(/^apiserver_request_duration_seconds_sum\{.*\} 1$/m);
  expect(text).toMatch(/^apiserver_request_sli_duration_seconds_sum\{.*\} 0.25$/m);
});

test.each([
  [[], ''],
  [['All'], 'All'],
  [['All', 'All'], 'All'],
  [['All', 'some'], 'invalid'],
  [['some'], 'invalid'],
])('requests with dryRun %j are counted as %j', async (given, dryRun) => {
  const metrics = openMetrics();
  const catalogue = { current: () => ({ find: () => configMaps }) } as unknown as Catalogue;
  const info = { isResource: true, verb: 'create', group: '', version: 'v1', resource: 'configmaps', subresource: '' };
  const request = { info, method: 'POST', query: { all: () => given } } as unknown as ApiRequest;
  new RequestMetrics(metrics, catalogue).of(request).answered(201, 1, 10);
  const { text } = await metrics.expose();
  expect(/^apiserver_request_total\{.*\bdry_run="([^"]*)"/m.exec(text)?.[1]).toBe(dryRun);
});

test('series of a deleted kind do not keep its definition in memory', async () => {
  let served: typeof configMaps | undefined = { ...configMaps };
  const catalogue = { current: () => ({ find: () => served }) } as unknown as Catalogue;
  const metrics = openMetrics();
  const requests = new RequestMetrics(metrics, catalogue);
  const info = { isResource: true, verb: 'get', group: '', version: 'v1', resource: 'configmaps', subresource: '' };
  const request = {
    info,
    method: 'GET',
    query: { all: () => [], has: () => false, first: () => undefined },
    header: () => undefined,
  } as unknown as ApiRequest;
  requests.of(request).answered(200, 0.001, 10);
  requests.watchOf(served, 'cluster').event(10, false);
  const definition = new WeakRef(served);
  served = undefined;
  const isGone = (): boolean => {
    collectGarbage();
    return definition.deref() === undefined;
  };
  await expect.poll(isGone).toBe(true);
  requests.of(request).answered(200, 0.001, 10);
});
