/** A server with node:http2 that answers every request with fixed bytes from the given files, for comparison. */
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';

const [certificate, ...files] = process.argv.slice(2);
const pem = readFileSync(certificate, 'utf8');
const bodies = new Map(files.map((file, at) => [`/${at}`, readFileSync(file)]));
const server = createSecureServer({
  allowHTTP1: true,
  maxSessionMemory: 1_024,
  cert: pem,
  key: pem,
  requestCert: true,
  rejectUnauthorized: false,
});
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  const body = bodies.get(headers[':path']);
  const answer = () => {
    stream.respond({ ':status': 200, 'content-type': 'application/json', 'content-length': body.length });
    stream.end(body);
  };
  // The body is read to its end first, as any server must that processes it.
  if (headers[':method'] === 'POST') stream.on('data', () => {}).once('end', answer);
  else answer();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ msg: 'ready', url: `https://127.0.0.1:${server.address().port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
