import { caSigner, createLogger, openCaFiles } from 'kedge';
import { runControllers } from './controllers.ts';

const [certificateFile = 'ca.crt', keyFile = 'ca.key'] = process.argv.slice(2);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const log = createLogger({ format: 'pretty' });
const files = await openCaFiles({ certificateFile, keyFile, log, signal: stop.signal });
const signer = caSigner({ serves: 'example.com/internal', authority: () => files.current(), maxSeconds: 86_400 });

await runControllers({ signers: [signer], log, signal: stop.signal }).finally(() => stop.abort());
