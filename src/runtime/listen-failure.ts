/** Returns an error for people that says why a port cannot be opened; keeps Node's `code`. Without a host: on all addresses. */
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
