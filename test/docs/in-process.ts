import { createServer, Namespaces } from 'kedge';

const server = await createServer({ store: 'memory:', listen: { port: 0 } });
console.log(server.url);

const client = server.client({ username: 'dora', groups: ['system:masters', 'system:authenticated'] });
const { items } = await client.resource(Namespaces).list();
console.log(items.map(({ metadata }) => metadata.name));

await server.stop();
