/**
 * Returns a readable error that says why a port cannot be opened, with the `code` of Node.js. Without a host, the
 * server listens on all addresses.
 */
export function listenFailure(error: NodeJS.ErrnoException, host: string | undefined, port: number): Error {
  return Object.assign(new Error(sentence(error, host, port), { cause: error }), { code: error.code });
}

function sentence({ code, message }: NodeJS.ErrnoException, host: string | undefined, port: number): string {
  const where = host === undefined ? `port ${port}` : `port ${port} on ${host}`;
  if (code === 'EADDRINUSE') return `${where} is in use by another program`;
  if (code === 'EACCES') return `${where} cannot be opened by this user`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is not an address of this machine`;
  return `cannot listen on ${where}: ${message}`;
}
