import { connect, createLogger, createManager, whileLeading } from 'kedge';
import { teamController } from './team-controller.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const client = await connect({ userAgent: 'teams' });
const log = createLogger({ format: process.stdout.isTTY ? 'pretty' : 'json' });
await createManager({ client, log })
  .add(whileLeading({ lease: { namespace: 'teams', name: 'controller' } }, teamController()))
  .run(stop.signal);
client.close();
