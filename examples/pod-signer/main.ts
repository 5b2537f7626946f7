import { readFile } from 'node:fs/promises';
import { connect, createLogger, loadCertificateAuthority, stopOnSignals } from 'kedge';
import { runPodSigner } from './run.ts';

const { CA_CERT = 'ca.crt', CA_KEY = 'ca.key' } = process.env;

const [certificate, key] = await Promise.all([readFile(CA_CERT, 'utf8'), readFile(CA_KEY, 'utf8')]);
const client = await connect({ userAgent: 'pod-signer' });
await runPodSigner({
  client,
  ca: loadCertificateAuthority({ certificate, key }),
  log: createLogger({ format: process.stdout.isTTY ? 'pretty' : 'json' }),
  signal: stopOnSignals(),
});
client.close();
