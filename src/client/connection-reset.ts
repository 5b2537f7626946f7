/** Did the other side end the connection, so that nothing is known of what was sent? */
export const isConnectionReset = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
