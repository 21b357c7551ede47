/** A value that does not match its type, with the message of Go's decoder. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}
