import { connect, createLogger, createManager, stopOnSignals, webhookServer } from 'kedge';
import { teamWebhooks } from './team-webhooks.ts';

const [certificateFile, keyFile] = process.argv.slice(2);
if (certificateFile === undefined || keyFile === undefined) throw new Error('usage: main.ts CERTIFICATE KEY');

const client = await connect({ userAgent: 'team-webhooks' });
const log = createLogger({ format: process.stdout.isTTY ? 'pretty' : 'json' });
await createManager({ client, log })
  .add(webhookServer({ certificateFile, keyFile, webhooks: teamWebhooks }))
  .run(stopOnSignals());
client.close();
