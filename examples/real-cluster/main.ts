import { caSigner, createLogger, openCaFiles, stopOnSignals } from 'kedge';
import { runControllers } from './controllers.ts';

const [certificateFile = 'ca.crt', keyFile = 'ca.key'] = process.argv.slice(2);
const signal = stopOnSignals();

const log = createLogger({ format: 'pretty' });
const files = await openCaFiles({ certificateFile, keyFile, log, signal });
const signer = caSigner({ serves: 'example.com/internal', authority: () => files.current(), maxSeconds: 86_400 });

await runControllers({ signers: [signer], log, signal });
