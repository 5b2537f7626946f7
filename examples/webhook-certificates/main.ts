import { connect, createLogger, stopOnSignals } from 'kedge';
import { runTeamWebhooks } from './run.ts';

const { CERTIFICATE_DIRECTORY: directory = 'certificates' } = process.env;

const client = await connect({ userAgent: 'team-webhooks' });
const log = createLogger({ format: process.stdout.isTTY ? 'pretty' : 'json' });
await runTeamWebhooks({ client, directory, log, signal: stopOnSignals() });
client.close();
