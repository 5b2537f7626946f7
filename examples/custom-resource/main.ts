import { connect, createLogger, createManager, stopOnSignals, whileLeading } from 'kedge';
import { teamController } from './team-controller.ts';

const client = await connect({ userAgent: 'teams' });
const log = createLogger({ format: process.stdout.isTTY ? 'pretty' : 'json' });
await createManager({ client, log })
  .add(whileLeading({ lease: { namespace: 'teams', name: 'controller' } }, teamController()))
  .run(stopOnSignals());
client.close();
