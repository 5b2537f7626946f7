import { connect, createLogger, createManager } from 'kedge';
import { teamAccess } from './team-access.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const client = await connect({ userAgent: 'team-access' });
await createManager({ client, log: createLogger({ format: 'pretty' }) })
  .add(teamAccess)
  .run(stop.signal);
client.close();
