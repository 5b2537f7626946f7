import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { testAuthority } from '../../../src/testing/certificates.js';

/** A request that the webhook received. */
export interface Asked {
  readonly path: string;
  readonly host: string | undefined;
  /** The server name in the TLS handshake; false if there was none. */
  readonly serverName: string | false | undefined;
  readonly body: string;
  /** The value of the Authorization header; absent if there was none. */
  readonly authorization?: string;
  /** The common name of the client certificate; absent if there was none. */
  readonly client?: string;
}

/** A webhook over HTTPS on the loopback interface. */
export interface HttpsHook {
  readonly port: number;
  /** The CAs that verify it, in PEM. */
  readonly anchors: string;
  /** The same CAs in the form of webhook configurations. */
  readonly caBundle: string;
  readonly asked: Asked[];
  /** Returns the number of connections made so far. */
  connections(): number;
  close(): Promise<void>;
}

/** The serving certificate of a webhook, and the CAs that verify it, in PEM. */
export interface Serving {
  readonly certificate: string;
  readonly key: string;
  readonly anchors: string;
}

async function usualServing(): Promise<Serving> {
  const authority = await testAuthority();
  const pair = await authority.issueServing({
    commonName: 'hook',
    dnsNames: ['localhost', 'svc.ns.svc'],
    ipAddresses: ['127.0.0.1'],
    seconds: 3_600,
  });
  return { ...pair, anchors: authority.anchors };
}

/** Starts a webhook that answers every request after reading all of it. */
export async function httpsHook(
  answer: (asked: Asked, response: ServerResponse, request: IncomingMessage) => void | Promise<void>,
  serving?: Serving,
): Promise<HttpsHook> {
  const pair = serving ?? (await usualServing());
  const asked: Asked[] = [];
  const sockets = new Set<Duplex>();
  let connections = 0;
  const tls = { cert: pair.certificate, key: pair.key, requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization } = request.headers;
    const client = (request.socket as TLSSocket).getPeerCertificate().subject?.CN;
    const one: Asked = {
      path: request.url ?? '',
      host: request.headers.host,
      serverName: (request.socket as TLSSocket & { servername?: string | false }).servername,
      body: Buffer.concat(chunks).toString('utf8'),
      ...(authorization === undefined ? {} : { authorization }),
      ...(typeof client === 'string' ? { client } : {}),
    };
    asked.push(one);
    await answer(one, response, request);
  });
  server.keepAliveTimeout = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    anchors: pair.anchors,
    caBundle: Buffer.from(pair.anchors).toString('base64'),
    asked,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
