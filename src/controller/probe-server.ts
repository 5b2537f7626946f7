import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { aborted } from '../runtime/abort.js';
import type { Logger } from '../runtime/logger.js';
import type { Metrics } from '../runtime/metrics.js';
import type { ReconcileContext, Runnable } from './controller.js';
import { HttpListener, requestLimits } from './http-listener.js';

/** The address of the probe server, and what it serves. */
export interface ProbeServerOptions {
  /** The address to listen on. Default: all addresses of the machine. */
  readonly host?: string | undefined;
  /** The port; 0 picks a free one. */
  readonly port: number;
  /** The metrics served at `/metrics`. Default: none. */
  readonly metrics?: Pick<Metrics, 'expose'> | undefined;
  /**
   * Throws the reason why the program is not ready, for `/readyz`. Default: it is ready, unless watches of the
   * manager's controllers are not.
   */
  ready?(): void | Promise<void>;
}

const graceMs = 2_000;

/**
 * Serves GET `/healthz`, `/livez`, `/readyz` and `/metrics` over plain HTTP, without authentication, until the manager
 * stops. `/readyz` fails, with the reason, while a watch of a controller that the manager has started has not listed
 * anything yet; `/readyz?exclude=watches` does not. Rejects if the port is not available.
 */
export const probeServer = (options: ProbeServerOptions): Runnable => ({
  name: 'probes',
  async run({ clock, log, signal, unsynced }) {
    const server = createServer(requestLimits, (request, response) => {
      response.on('error', () => {});
      answer({ ...options, unsynced }, log, request, response).catch(() => response.destroy());
    });
    const listener = new HttpListener(server, clock);
    const port = await listener.open({ host: options.host, port: options.port });
    server.on('error', (error) => log.error({ err: error }, 'probe listener failed'));
    log.info({ port }, 'serving probes');
    await aborted(signal);
    await listener.close(graceMs);
  },
});

async function answer(
  { metrics, ready, unsynced }: ProbeServerOptions & Pick<ReconcileContext, 'unsynced'>,
  log: Logger,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (code: number, text: string, contentType = 'text/plain; charset=utf-8'): void =>
    void response.writeHead(code, { 'content-type': contentType }).end(text);
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return say(405, 'method not allowed\n');
  }
  const [path, query] = url.split('?', 2);
  try {
    if (path === '/readyz') {
      await ready?.();
      const isExcluded = new URLSearchParams(query).getAll('exclude').includes('watches');
      const watches = isExcluded ? [] : (unsynced?.list() ?? []);
      const waiting = watches.map(({ controller, resource }) => `${controller} has not listed ${resource}\n`);
      if (waiting.length > 0) return say(503, `not ready\n${waiting.join('')}`);
    }
    if (path === '/healthz' || path === '/livez' || path === '/readyz') return say(200, 'ok');
    if (path !== '/metrics' || metrics === undefined) return say(404, 'not found\n');
    const { text, contentType } = await metrics.expose();
    say(200, text, contentType);
  } catch (error) {
    // The reason is not sent, because the endpoint is public.
    log.warn({ path, err: error }, 'not ready');
    say(503, 'not ready\n');
  }
}
