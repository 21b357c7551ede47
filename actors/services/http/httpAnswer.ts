/** Reads the answer to a GET as it comes (RFC 9112): its head, and as much of its body as is wanted. */

import { messageOf } from '../../../base/failure.ts';
import { quoted } from '../../../base/quoted.ts';

export interface HttpHead {
  readonly status: number;
  /** By their names in lower case; of one that comes several times the first. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface HttpAnswer extends HttpHead {
  readonly body: Buffer;
}

/** What has come of an answer and is not read yet. */
export interface Incoming {
  bytes: Buffer;
  /** What they lie in, with room behind them for more; absent: they are as they came. */
  room?: Buffer;
  /** Whether nothing comes any more. */
  ended: boolean;
  /** Whether the head has been read. */
  inBody: boolean;
}

const NEWLINE = 0x0a;
/** As much of a head as Go's readers would still take of a line, many times over. */
const HEAD_BYTES = 256 * 1024;
const INTERIM_HEADS = 5;

/** Puts what has come behind what is not read yet. However small the pieces are, each byte is copied a few times at most. */
export function append(incoming: Incoming, piece: Buffer): void {
  const { bytes } = incoming;
  if (bytes.length === 0) {
    incoming.bytes = piece;
    delete incoming.room;
    return;
  }
  const length = bytes.length + piece.length;
  let { room } = incoming;
  let start = room === undefined ? 0 : bytes.byteOffset - room.byteOffset;
  if (room === undefined || start + length > room.length) {
    room = Buffer.alloc(2 * length);
    bytes.copy(room);
    start = 0;
  }
  piece.copy(room, start + bytes.length);
  incoming.room = room;
  incoming.bytes = room.subarray(start, start + length);
}

/**
 * Yields for more bytes until the answer is there; `wanted` says how much of its body is, once its head is known. Throws
 * what is wrong with it in the words of Go's HTTP client.
 */
export function* readAnswer(
  incoming: Incoming,
  wanted: (head: HttpHead) => number,
): Generator<undefined, HttpAnswer, undefined> {
  while (incoming.bytes.length === 0) {
    if (incoming.ended) throw new Error('EOF');
    yield;
  }
  const head = yield* finalHead(incoming);
  incoming.inBody = true;
  return { ...head, body: yield* readBody(incoming, head, wanted(head)) };
}

type Reading<T> = Generator<undefined, T, undefined>;

/** The head of the answer itself: others of 1xx may come before it. */
function* finalHead(incoming: Incoming): Reading<HttpHead> {
  try {
    for (let interim = 0; interim <= INTERIM_HEADS; interim += 1) {
      const head = yield* readHead(incoming);
      if (head.status >= 200 || head.status === 101) return head;
    }
  } catch (error) {
    const words = messageOf(error);
    throw new Error(`net/http: HTTP/1.x transport connection broken: ${words}`, { cause: error });
  }
  throw new Error('net/http: too many 1xx informational responses');
}

function* readHead(incoming: Incoming): Reading<HttpHead> {
  let line = yield* readLine(incoming);
  const status = statusOf(line);
  const headers = new Map<string, string>();
  for (let length = line.length; ; length += line.length) {
    if (length > HEAD_BYTES) throw new Error(`server response headers exceeded ${HEAD_BYTES} bytes; aborted`);
    line = yield* readLine(incoming);
    if (line === '') return { status, headers };
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error(`malformed MIME header line: ${line}`);
    const name = line.slice(0, colon).toLowerCase();
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
}

function statusOf(line: string): number {
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
  // It ends with the connection.
  while (incoming.bytes.length < wanted && !incoming.ended) yield;
  return take(incoming, wanted);
}

function* readChunks(incoming: Incoming, wanted: number): Reading<Buffer> {
  const parts: Buffer[] = [];
  for (let left = wanted; left > 0; ) {
    const [size = ''] = (yield* readLine(incoming)).split(';', 1);
    if (!/^[\da-f]{1,8} *$/i.test(size)) throw new Error('invalid byte in chunk length');
    const length = Number.parseInt(size, 16);
    if (length === 0) break;
    const part = yield* readExactly(incoming, Math.min(length, left));
    parts.push(part);
    left -= part.length;
    if (left > 0 && (yield* readLine(incoming)) !== '') throw new Error('malformed chunked encoding');
  }
  return Buffer.concat(parts);
}

/** A line without its end; the last one may lack that. */
function* readLine(incoming: Incoming): Reading<string> {
  for (let searched = 0; ; ) {
    const end = incoming.bytes.indexOf(NEWLINE, searched);
    searched = incoming.bytes.length;
    if (end >= 0)
      return take(incoming, end + 1)
        .toString('latin1')
        .replace(/\r?\n$/, '');
    if (incoming.bytes.length > HEAD_BYTES) throw new Error(`a line exceeded ${HEAD_BYTES} bytes`);
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
  const taken = incoming.bytes.subarray(0, count);
  incoming.bytes = incoming.bytes.subarray(count);
  return taken;
}
