/** Incrementally parses the response to a GET (RFC 9112). Reads the head and the requested part of the body. */

import { messageOf } from '../../../base/failure.ts';
import { quotedText } from '../../../base/text/quotedText.ts';

export interface HttpHead {
  readonly status: number;
  /** Keyed by lowercase name. If a header occurs more than once, only the first one is included. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface HttpResponse extends HttpHead {
  readonly body: Buffer;
}

/** The received part of a response that has not been parsed yet. */
export interface IncomingData {
  bytes: Buffer;
  /**
   * The buffer that contains `bytes`, with room for more after them. Undefined while `bytes` is the received chunk
   * itself.
   */
  buffer?: Buffer;
  /** Whether the connection has ended. */
  hasEnded: boolean;
  /** Whether the head has been read. */
  inBody: boolean;
}

const NEWLINE_BYTE = 0x0a;
/** Maximum size of a head, which is many times the maximum line size of Go's readers. A larger head is rejected. */
const MAX_HEAD_BYTES = 256 * 1024;
const MAX_INTERIM_HEADS = 5;

/**
 * Appends a received chunk. The buffer grows exponentially, so each byte is copied only a few times, even if the chunks
 * are tiny.
 */
export function appendChunk(incoming: IncomingData, chunk: Buffer): void {
  const { bytes } = incoming;
  if (bytes.length === 0) {
    incoming.bytes = chunk;
    delete incoming.buffer;
    return;
  }
  const length = bytes.length + chunk.length;
  let { buffer } = incoming;
  let bufferStart = buffer === undefined ? 0 : bytes.byteOffset - buffer.byteOffset;
  if (buffer === undefined || bufferStart + length > buffer.length) {
    buffer = Buffer.alloc(2 * length);
    bytes.copy(buffer);
    bufferStart = 0;
  }
  chunk.copy(buffer, bufferStart + bytes.length);
  incoming.buffer = buffer;
  incoming.bytes = buffer.subarray(bufferStart, bufferStart + length);
}

/**
 * Reads a response. Yields whenever it needs more bytes, until the response is complete. `bodyLimit` returns the number
 * of bytes of the body to read. Throws with the message of Go's HTTP client.
 */
export function* readResponse(
  incoming: IncomingData,
  bodyLimit: (head: HttpHead) => number,
): Generator<undefined, HttpResponse, undefined> {
  while (incoming.bytes.length === 0) {
    if (incoming.hasEnded) throw new Error('EOF');
    yield;
  }
  const responseHead = yield* readFinalHead(incoming);
  incoming.inBody = true;
  return { ...responseHead, body: yield* readBody(incoming, responseHead, bodyLimit(responseHead)) };
}

type ResponseParser<T> = Generator<undefined, T, undefined>;

/** Reads the head of the final response, and skips the heads of informational (1xx) responses. */
function* readFinalHead(incoming: IncomingData): ResponseParser<HttpHead> {
  try {
    for (let interim = 0; interim <= MAX_INTERIM_HEADS; interim += 1) {
      const responseHead = yield* readHead(incoming);
      if (responseHead.status >= 200 || responseHead.status === 101) return responseHead;
    }
  } catch (error) {
    const message = messageOf(error);
    throw new Error(`net/http: HTTP/1.x transport connection broken: ${message}`, { cause: error });
  }
  throw new Error('net/http: too many 1xx informational responses');
}

function* readHead(incoming: IncomingData): ResponseParser<HttpHead> {
  let headerLine = yield* readLine(incoming);
  const status = parseStatusLine(headerLine);
  const headers = new Map<string, string>();
  for (let length = headerLine.length; ; length += headerLine.length) {
    if (length > MAX_HEAD_BYTES) throw new Error(`server response headers exceeded ${MAX_HEAD_BYTES} bytes; aborted`);
    headerLine = yield* readLine(incoming);
    if (headerLine === '') return { status, headers };
    const colonIndex = headerLine.indexOf(':');
    if (colonIndex <= 0) throw new Error(`malformed MIME header line: ${headerLine}`);
    const name = headerLine.slice(0, colonIndex).toLowerCase();
    if (!headers.has(name)) headers.set(name, headerLine.slice(colonIndex + 1).trim());
  }
}

function parseStatusLine(line: string): number {
  const [version = '', code] = line.split(/ +/, 2);
  if (code === undefined) throw new Error(`malformed HTTP response ${quotedText(line)}`);
  if (!/^\d{3}$/.test(code)) throw new Error(`malformed HTTP status code ${quotedText(code)}`);
  if (!/^HTTP\/\d\.\d$/.test(version)) throw new Error(`malformed HTTP version ${quotedText(version)}`);
  return Number(code);
}

function* readBody(incoming: IncomingData, { status, headers }: HttpHead, maxBytes: number): ResponseParser<Buffer> {
  if (status < 200 || status === 204 || status === 304) return Buffer.alloc(0);
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') return yield* readChunks(incoming, maxBytes);
  const length = headers.get('content-length');
  if (length !== undefined) {
    if (!/^\d+$/.test(length)) throw new Error(`bad Content-Length ${quotedText(length)}`);
    return yield* readExactly(incoming, Math.min(Number(length), maxBytes));
  }
  // Without a declared length, the body extends to the end of the connection.
  while (incoming.bytes.length < maxBytes && !incoming.hasEnded) yield;
  return takeBytes(incoming, maxBytes);
}

function* readChunks(incoming: IncomingData, maxBytes: number): ResponseParser<Buffer> {
  const chunks: Buffer[] = [];
  for (let remaining = maxBytes; remaining > 0; ) {
    const [size = ''] = (yield* readLine(incoming)).split(';', 1);
    if (!/^[\da-f]{1,8} *$/i.test(size)) throw new Error('invalid byte in chunk length');
    const length = Number.parseInt(size, 16);
    if (length === 0) break;
    const chunk = yield* readExactly(incoming, Math.min(length, remaining));
    chunks.push(chunk);
    remaining -= chunk.length;
    if (remaining > 0 && (yield* readLine(incoming)) !== '') throw new Error('malformed chunked encoding');
  }
  return Buffer.concat(chunks);
}

/** Reads a line without its terminator, which may be missing on the last line. */
function* readLine(incoming: IncomingData): ResponseParser<string> {
  for (let searchedLength = 0; ; ) {
    const end = incoming.bytes.indexOf(NEWLINE_BYTE, searchedLength);
    searchedLength = incoming.bytes.length;
    if (end >= 0)
      return takeBytes(incoming, end + 1)
        .toString('latin1')
        .replace(/\r?\n$/, '');
    if (incoming.bytes.length > MAX_HEAD_BYTES) throw new Error(`a line exceeded ${MAX_HEAD_BYTES} bytes`);
    if (incoming.hasEnded) {
      if (incoming.bytes.length === 0) throw new Error('unexpected EOF');
      return takeBytes(incoming, incoming.bytes.length).toString('latin1');
    }
    yield;
  }
}

function* readExactly(incoming: IncomingData, count: number): ResponseParser<Buffer> {
  while (incoming.bytes.length < count) {
    if (incoming.hasEnded) throw new Error('unexpected EOF');
    yield;
  }
  return takeBytes(incoming, count);
}

function takeBytes(incoming: IncomingData, count: number): Buffer {
  const firstBytes = incoming.bytes.subarray(0, count);
  incoming.bytes = incoming.bytes.subarray(count);
  return firstBytes;
}
