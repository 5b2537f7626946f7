/**
 * Thrown when a store cannot be opened or reached. The message is one sentence for the server's administrator that
 * names the address.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code = 'STORE_UNAVAILABLE';
}
