/** Serves a file in the same way as Go's `http.ServeContent`. */
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { readBytesAt, readPlainBlocks } from '../../../host/logs/logBlocks.ts';
import { sendError } from '../../answers.ts';
import type { Exchange } from '../../exchange.ts';
import { writeAll } from '../../writeAll.ts';
import type { OpenedFile } from './openInside.ts';

/** The built-in content types of Go's `mime` package. */
const CONTENT_TYPES = new Map([
  ['.avif', 'image/avif'],
  ['.css', 'text/css; charset=utf-8'],
  ['.gif', 'image/gif'],
  ['.htm', 'text/html; charset=utf-8'],
  ['.html', 'text/html; charset=utf-8'],
  ['.jpeg', 'image/jpeg'],
  ['.jpg', 'image/jpeg'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json'],
  ['.mjs', 'text/javascript; charset=utf-8'],
  ['.pdf', 'application/pdf'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.wasm', 'application/wasm'],
  ['.webp', 'image/webp'],
  ['.xml', 'text/xml; charset=utf-8'],
]);

const SNIFF_BYTES = 512;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b, 0x08]);
const BLOCK_BYTES = 16 * 1_024;

interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Sends a file or one range of it. A request for several ranges receives the whole file. */
export async function sendFile(exchange: Exchange, file: OpenedFile): Promise<void> {
  const { response, request } = exchange;
  const { size, mtime } = file.stats;
  const lastModified = mtime.toUTCString();
  response.setHeader('Last-Modified', lastModified);
  if (isUnmodified(request.headers['if-modified-since'], mtime)) {
    response.writeHead(304).end();
    return;
  }
  response.setHeader('Accept-Ranges', 'bytes');
  const ifRange = request.headers['if-range'];
  const byteRange =
    ifRange === undefined || ifRange === lastModified ? parseRange(request.headers.range, size) : undefined;
  if (typeof byteRange === 'string') {
    response.setHeader('Content-Range', `bytes */${size}`);
    return sendError(response, 416, byteRange);
  }
  const { from, to } = byteRange ?? { from: 0, to: size };
  if (byteRange !== undefined) response.setHeader('Content-Range', `bytes ${from}-${to - 1}/${size}`);
  const type = CONTENT_TYPES.get(extname(file.path).toLowerCase()) ?? (await sniffContentType(file.handle));
  response.writeHead(byteRange === undefined ? 200 : 206, { 'Content-Type': type, 'Content-Length': to - from });
  const sentBytes = await writeAll(
    response,
    readPlainBlocks(file.handle, { from, to, blockBytes: BLOCK_BYTES }),
    exchange.signal,
  );
  if (sentBytes === to - from) response.end();
  // Break the connection, because the file was truncated in the meantime and the client would wait for the missing
  // bytes.
  else response.destroy();
}

/** Whether the file is no newer than the client's copy, at a resolution of one second. */
export function isUnmodified(since: string | undefined, mtime: Date): boolean {
  const sinceTime = since === undefined ? Number.NaN : Date.parse(since);
  return Math.floor(mtime.getTime() / 1_000) * 1_000 <= sinceTime;
}

/** Parses a Range header. Returns undefined for the whole file, or an error message for an invalid range. */
function parseRange(header: string | undefined, size: number): ByteRange | undefined | string {
  if (header === undefined || header === '') return undefined;
  const [, first = '', last = ''] = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/.exec(header) ?? [];
  if (first === '' && last === '') return /^bytes=.*,/.test(header) ? undefined : 'invalid range';
  if (first === '') return { from: Math.max(0, size - Number(last)), to: size };
  const [from, to] = [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)];
  if (from >= size) return size === 0 ? undefined : 'invalid range: failed to overlap';
  return from < to ? { from, to } : 'invalid range';
}

/** Guesses the content type. Content without control characters other than whitespace and escape is considered text. */
async function sniffContentType(handle: FileHandle): Promise<string> {
  const firstBytes = await readBytesAt(handle, 0, SNIFF_BYTES);
  if (firstBytes.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return 'application/x-gzip';
  const isBinary = firstBytes.some(
    (byte) => byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1f && byte !== 0x1b),
  );
  return isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8';
}
