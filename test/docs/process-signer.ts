import { createServer, processSigner } from 'kedge';

const external = processSigner({
  serves: 'example.com/external',
  command: ['python3', 'examples/external-signer/signer.py', 'ca.crt', 'ca.key'],
});
const server = await createServer({ signers: [external] });
await server.stop();
