import { connect, createLogger, createManager, stopOnSignals } from 'kedge';
import { teamAccess } from './team-access.ts';

const client = await connect({ userAgent: 'team-access' });
await createManager({ client, log: createLogger({ format: 'pretty' }) })
  .add(teamAccess)
  .run(stopOnSignals());
client.close();
