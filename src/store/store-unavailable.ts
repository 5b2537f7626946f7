/** A store cannot be opened or reached. The message is one sentence for the person who runs the server, naming where. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code = 'STORE_UNAVAILABLE';
}
