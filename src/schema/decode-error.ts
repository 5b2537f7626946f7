/** The value does not fit the schema. The message is Go's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  /** What a Go type says that decodes itself, and does not know where it stands; the message where there is none. */
  readonly innerMessage: string;

  constructor(message: string, own = message) {
    super(message);
    this.innerMessage = own;
  }
}
