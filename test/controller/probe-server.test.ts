import { expect, test } from 'vitest';
import { type ProbeServerOptions, probeServer } from '../../src/controller/probe-server.js';
import { openMetrics } from '../../src/runtime/metrics.js';
import { eventually } from '../../src/testing/until.js';
import { reviewContext } from '../webhook/review.js';

/** Sends a request to a server with these options, which runs meanwhile. */
async function asked(
  options: Partial<ProbeServerOptions>,
  ask: (url: string, lines: readonly object[]) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const context = reviewContext();
  const running = probeServer({ host: '127.0.0.1', port: 0, ...options }).run({ ...context, signal: stop.signal });
  const { lines } = context;
  const opened = await eventually(
    async () => lines[0]?.fields as { readonly port: number } | undefined,
    (fields) => fields !== undefined,
  );
  const { port } = opened ?? {};
  await ask(`http://127.0.0.1:${port}`, lines);
  stop.abort();
  await running;
}

test.each(['/healthz', '/livez', '/readyz', '/readyz?verbose'])('%s is answered', async (path) => {
  await asked({}, async (url) => {
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    expect((await fetch(`${url}${path}`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${url}${path}`, { method: 'POST' })).status).toBe(405);
  });
});

test('other paths are not found', async () => {
  await asked({}, async (url) => {
    for (const path of ['/', '/metrics', '/healthz/']) expect((await fetch(`${url}${path}`)).status).toBe(404);
  });
});

test('metrics are exposed', async () => {
  const metrics = openMetrics();
  metrics.counter({ name: 'some_total', help: 'Some.', labels: [] }).add({});
  await asked({ metrics }, async (url) => {
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await answer.text()).toContain('some_total 1');
  });
});

test('the reason why a program is not ready is logged', async () => {
  const error = new Error('no key');
  await asked({ ready: () => Promise.reject(error) }, async (url, lines) => {
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([503, 'not ready\n']);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(lines.slice(1)).toEqual([{ level: 'warn', message: 'not ready', fields: { path: '/readyz', err: error } }]);
  });
});

test('an unavailable port or address is reported', async () => {
  const running = probeServer({ host: '203.0.113.1', port: 0 }).run(reviewContext());
  await expect(running).rejects.toMatchObject({
    message: '203.0.113.1 is not an address of this machine',
    code: 'EADDRNOTAVAIL',
  });
  await asked({}, async (url) => {
    const port = Number(new URL(url).port);
    await expect(probeServer({ host: '127.0.0.1', port }).run(reviewContext())).rejects.toThrow(
      `port ${port} on 127.0.0.1 is in use by another program`,
    );
  });
});
