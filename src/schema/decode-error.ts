/** Thrown for a value that does not fit the schema. The message is Go's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  /** The message of a Go type with its own UnmarshalJSON, which does not know its path; otherwise the whole message. */
  readonly innerMessage: string;

  constructor(message: string, own = message) {
    super(message);
    this.innerMessage = own;
  }
}
