import { malformed } from './failure.ts';

/** Names in lower case, and values. */
export type Headers = ReadonlyMap<string, string>;

/** A stream of a remote command has one header, one of port forwarding three. */
const COUNT_LIMIT = 100;

/** The headers of a stream as bytes that are not yet compressed. */
export function encodeHeaders(headers: Headers): Buffer {
  const texts = [...headers].flatMap(([name, value]) => [name.toLowerCase(), value].map((text) => Buffer.from(text)));
  return Buffer.concat([word(headers.size), ...texts.flatMap((text) => [word(text.length), text])]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The headers of a stream; throws when the bytes are not exactly such headers. */
export function decodeHeaders(bytes: Buffer): Headers {
  let at = 0;
  const number = () => {
    if (at + 4 > bytes.length) throw malformed('the headers of a stream break off');
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const text = () => {
    const length = number();
    if (length > bytes.length - at) throw malformed('the headers of a stream break off');
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const count = number();
  if (count > COUNT_LIMIT) throw malformed(`a stream has ${count} headers, more than ${COUNT_LIMIT}`);
  const headers = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const name = text();
    if (name === '' || name !== name.toLowerCase()) throw malformed('a header has no name, or one with capitals');
    if (headers.has(name)) throw malformed('a stream has a header twice');
    headers.set(name, text());
  }
  if (at !== bytes.length) throw malformed('something follows the headers of a stream');
  return headers;
}
