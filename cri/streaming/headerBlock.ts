import { protocolFailure } from './failure.ts';

/** Headers by lower-case name. */
export type Headers = ReadonlyMap<string, string>;

/**
 * Maximum number of headers of a stream. More headers are an error. Remote commands use one header, and port forwarding
 * uses three.
 */
const MAX_HEADERS = 100;

/** Encodes the headers of a stream, without compression. */
export function encodeHeaders(headers: Headers): Buffer {
  const fields = [...headers].flatMap(([name, value]) => [name.toLowerCase(), value].map((text) => Buffer.from(text)));
  return Buffer.concat([encodeUint32(headers.size), ...fields.flatMap((text) => [encodeUint32(text.length), text])]);
}

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Decodes the headers of a stream. Throws if the bytes are not exactly one header block. */
export function decodeHeaders(bytes: Buffer): Headers {
  let offset = 0;
  const readUint32 = () => {
    if (offset + 4 > bytes.length) throw protocolFailure('the headers of a stream break off');
    offset += 4;
    return bytes.readUInt32BE(offset - 4);
  };
  const readString = () => {
    const length = readUint32();
    if (length > bytes.length - offset) throw protocolFailure('the headers of a stream break off');
    offset += length;
    return bytes.toString('utf8', offset - length, offset);
  };
  const count = readUint32();
  if (count > MAX_HEADERS) throw protocolFailure(`a stream has ${count} headers, more than ${MAX_HEADERS}`);
  const headers = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const name = readString();
    if (name === '' || name !== name.toLowerCase()) throw protocolFailure('a header has no name, or one with capitals');
    if (headers.has(name)) throw protocolFailure('a stream has a header twice');
    headers.set(name, readString());
  }
  if (offset !== bytes.length) throw protocolFailure('something follows the headers of a stream');
  return headers;
}
