/** Whether the peer closed the connection, so that it is unknown whether the request was processed. */
export const isConnectionReset = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
