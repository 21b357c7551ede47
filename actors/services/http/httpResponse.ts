/** Incrementally parses the response to a GET (RFC 9112). Reads the head and the requested part of the body. */

import { messageOf } from '../../../base/failure.ts';
import { quoted } from '../../../base/quoted.ts';

export interface HttpHead {
  readonly status: number;
  /** Keyed by lowercase name. Only the first header of a name is included. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface HttpResponse extends HttpHead {
  readonly body: Buffer;
}

/** The received part of a response that has not been parsed yet. */
export interface Incoming {
  bytes: Buffer;
  /**
   * The buffer that contains `bytes`, with room for more after them. Undefined while `bytes` is the received chunk
   * itself.
   */
  room?: Buffer;
  /** Whether the connection has ended. */
  ended: boolean;
  /** Whether the head has been read. */
  inBody: boolean;
}

const NEWLINE = 0x0a;
/** Maximum size of a head, many times the maximum line size of Go's readers. A larger head is rejected. */
const MAX_HEAD_BYTES = 256 * 1024;
const MAX_INTERIM_HEADS = 5;

/**
 * Appends a received chunk. The buffer grows exponentially, so each byte is copied only a few times, even if the chunks
 * are tiny.
 */
export function append(incoming: Incoming, chunk: Buffer): void {
  const { bytes } = incoming;
  if (bytes.length === 0) {
    incoming.bytes = chunk;
    delete incoming.room;
    return;
  }
  const length = bytes.length + chunk.length;
  let { room } = incoming;
  let start = room === undefined ? 0 : bytes.byteOffset - room.byteOffset;
  if (room === undefined || start + length > room.length) {
    room = Buffer.alloc(2 * length);
    bytes.copy(room);
    start = 0;
  }
  chunk.copy(room, start + bytes.length);
  incoming.room = room;
  incoming.bytes = room.subarray(start, start + length);
}

/**
 * Reads a response. Yields whenever it needs more bytes, until the response is complete. `wanted` returns the number of
 * bytes of the body to read. Throws with the message of Go's HTTP client.
 */
export function* readResponse(
  incoming: Incoming,
  wanted: (head: HttpHead) => number,
): Generator<undefined, HttpResponse, undefined> {
  while (incoming.bytes.length === 0) {
    if (incoming.ended) throw new Error('EOF');
    yield;
  }
  const head = yield* readFinalHead(incoming);
  incoming.inBody = true;
  return { ...head, body: yield* readBody(incoming, head, wanted(head)) };
}

type Reading<T> = Generator<undefined, T, undefined>;

/** Reads the final head and skips informational (1xx) ones. */
function* readFinalHead(incoming: Incoming): Reading<HttpHead> {
  try {
    for (let interim = 0; interim <= MAX_INTERIM_HEADS; interim += 1) {
      const head = yield* readHead(incoming);
      if (head.status >= 200 || head.status === 101) return head;
    }
  } catch (error) {
    const message = messageOf(error);
    throw new Error(`net/http: HTTP/1.x transport connection broken: ${message}`, { cause: error });
  }
  throw new Error('net/http: too many 1xx informational responses');
}

function* readHead(incoming: Incoming): Reading<HttpHead> {
  let line = yield* readLine(incoming);
  const status = parseStatusLine(line);
  const headers = new Map<string, string>();
  for (let length = line.length; ; length += line.length) {
    if (length > MAX_HEAD_BYTES) throw new Error(`server response headers exceeded ${MAX_HEAD_BYTES} bytes; aborted`);
    line = yield* readLine(incoming);
    if (line === '') return { status, headers };
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error(`malformed MIME header line: ${line}`);
    const name = line.slice(0, colon).toLowerCase();
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
}

function parseStatusLine(line: string): number {
  const [version = '', code] = line.split(/ +/, 2);
  if (code === undefined) throw new Error(`malformed HTTP response ${quoted(line)}`);
  if (!/^\d{3}$/.test(code)) throw new Error(`malformed HTTP status code ${quoted(code)}`);
  if (!/^HTTP\/\d\.\d$/.test(version)) throw new Error(`malformed HTTP version ${quoted(version)}`);
  return Number(code);
}

function* readBody(incoming: Incoming, { status, headers }: HttpHead, wanted: number): Reading<Buffer> {
  if (status < 200 || status === 204 || status === 304) return Buffer.alloc(0);
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') return yield* readChunks(incoming, wanted);
  const length = headers.get('content-length');
  if (length !== undefined) {
    if (!/^\d+$/.test(length)) throw new Error(`bad Content-Length ${quoted(length)}`);
    return yield* readExactly(incoming, Math.min(Number(length), wanted));
  }
  // The end of the connection is the end of the body.
  while (incoming.bytes.length < wanted && !incoming.ended) yield;
  return take(incoming, wanted);
}

function* readChunks(incoming: Incoming, wanted: number): Reading<Buffer> {
  const chunks: Buffer[] = [];
  for (let remaining = wanted; remaining > 0; ) {
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
function* readLine(incoming: Incoming): Reading<string> {
  for (let searched = 0; ; ) {
    const end = incoming.bytes.indexOf(NEWLINE, searched);
    searched = incoming.bytes.length;
    if (end >= 0)
      return take(incoming, end + 1)
        .toString('latin1')
        .replace(/\r?\n$/, '');
    if (incoming.bytes.length > MAX_HEAD_BYTES) throw new Error(`a line exceeded ${MAX_HEAD_BYTES} bytes`);
    if (incoming.ended) {
      if (incoming.bytes.length === 0) throw new Error('unexpected EOF');
      return take(incoming, incoming.bytes.length).toString('latin1');
    }
    yield;
  }
}

function* readExactly(incoming: Incoming, count: number): Reading<Buffer> {
  while (incoming.bytes.length < count) {
    if (incoming.ended) throw new Error('unexpected EOF');
    yield;
  }
  return take(incoming, count);
}

function take(incoming: Incoming, count: number): Buffer {
  const front = incoming.bytes.subarray(0, count);
  incoming.bytes = incoming.bytes.subarray(count);
  return front;
}
