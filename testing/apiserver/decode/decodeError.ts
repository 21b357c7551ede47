import { isList, type Json } from '../json.ts';

/** A value that does not match its type, with the message of Go's decoder. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** Returns the kind of a JSON value, as in Go's messages. */
export function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
