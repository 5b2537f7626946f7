import http2 from 'node:http2';

/** A small load generator over HTTP/2 on the loopback interface. */

/** Opens sessions to one server. `headers` are sent with every request. */
export function connectTo(url, headers, { sessions = 1 } = {}) {
  const open = Array.from({ length: sessions }, () => {
    const session = http2.connect(url, {
      rejectUnauthorized: false,
      maxSessionMemory: 1_024,
      settings: { initialWindowSize: 1 << 24 },
    });
    session.once('connect', () => session.setLocalWindowSize(1 << 26));
    session.on('error', () => {});
    return session;
  });
  let turn = 0;
  const stream = (method, path, type) =>
    open[turn++ % open.length].request({
      ':method': method,
      ':path': path,
      ...headers,
      ...(type === undefined ? {} : { 'content-type': type }),
    });
  return {
    /** Sends a request and resolves with status and body. */
    call(method, path, body, type = 'application/json') {
      return new Promise((resolve, reject) => {
        const request = stream(method, path, body === undefined ? undefined : type);
        let status = 0;
        const chunks = [];
        request.on('response', (answer) => {
          status = answer[':status'];
        });
        request.on('data', (chunk) => chunks.push(chunk));
        request.on('end', () => resolve({ status, body: Buffer.concat(chunks) }));
        request.on('error', reject);
        request.end(body);
      });
    },
    stream,
    close() {
      for (const session of open) session.close();
    },
  };
}

/**
 * Keeps this many requests in progress for a while. `request` makes the next one, given its number, and resolves with
 * its status; any status but success ends the run.
 */
export async function underLoad({ concurrency, milliseconds, request }) {
  const end = performance.now() + milliseconds;
  const latencies = [];
  let count = 0;
  const began = performance.now();
  const worker = async () => {
    while (performance.now() < end) {
      const at = performance.now();
      const status = await request(count++);
      if (status >= 300) throw new Error(`the server answered ${status}`);
      latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { requests: latencies.length, perSecond: latencies.length / ((performance.now() - began) / 1_000), latencies };
}

export const percentile = (values, share) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
