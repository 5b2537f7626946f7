import { createServer, MemoryStore } from 'kedge';

const server = await createServer({ store: new MemoryStore({ historyLimit: 1_000 }) });
await server.stop();
