import { readFile } from 'node:fs/promises';
import { connect, createLogger, loadCertificateAuthority } from 'kedge';
import { runCiSigner } from './run.ts';

const { CA_CERT = 'ca.crt', CA_KEY = 'ca.key' } = process.env;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const [certificate, key] = await Promise.all([readFile(CA_CERT, 'utf8'), readFile(CA_KEY, 'utf8')]);
const client = await connect({ userAgent: 'ci-signer' });
await runCiSigner({
  client,
  ca: loadCertificateAuthority({ certificate, key }),
  log: createLogger({ format: process.stdout.isTTY ? 'pretty' : 'json' }),
  signal: stop.signal,
});
client.close();
