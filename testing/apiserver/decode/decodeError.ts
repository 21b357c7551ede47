/** A body that is none of its type, in the words of Go's decoder. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}
