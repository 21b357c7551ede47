/** Answers with a file as Go's http.ServeContent does. */
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { bytesAt, plainBlocks } from '../../host/logs/logBlocks.ts';
import { sendError } from '../answers.ts';
import type { Exchange } from '../exchange.ts';
import { writeAll } from '../writeAll.ts';
import type { Inside } from './openInside.ts';

/** What Go's mime package knows by itself. */
const KINDS = new Map([
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

const SNIFFED = 512;
const GZIP = Buffer.from([0x1f, 0x8b, 0x08]);
const BLOCK = 16 * 1_024;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Sends a file, or the one range of it that is asked for; of several ranges it sends all of the file. */
export async function answerFile(exchange: Exchange, file: Inside): Promise<void> {
  const { response, request } = exchange;
  const { size, mtime } = file.stats;
  const modified = mtime.toUTCString();
  response.setHeader('Last-Modified', modified);
  if (isUnmodified(request.headers['if-modified-since'], mtime)) {
    response.writeHead(304).end();
    return;
  }
  response.setHeader('Accept-Ranges', 'bytes');
  const ifRange = request.headers['if-range'];
  const range = ifRange === undefined || ifRange === modified ? rangeOf(request.headers.range, size) : undefined;
  if (typeof range === 'string') {
    response.setHeader('Content-Range', `bytes */${size}`);
    return sendError(response, 416, range);
  }
  const { from, to } = range ?? { from: 0, to: size };
  if (range !== undefined) response.setHeader('Content-Range', `bytes ${from}-${to - 1}/${size}`);
  const type = KINDS.get(extname(file.path).toLowerCase()) ?? (await sniffed(file.handle));
  response.writeHead(range === undefined ? 200 : 206, { 'Content-Type': type, 'Content-Length': to - from });
  const sent = await writeAll(response, plainBlocks(file.handle, { from, to, size: BLOCK }), exchange.signal);
  if (sent === to - from) response.end();
  // It has become shorter, and who waits for the rest must not wait for ever.
  else response.destroy();
}

/** Whether a file is as old as the client's copy of it, in whole seconds. */
export function isUnmodified(since: string | undefined, mtime: Date): boolean {
  const known = since === undefined ? Number.NaN : Date.parse(since);
  return Math.floor(mtime.getTime() / 1_000) * 1_000 <= known;
}

/** Undefined where all of it is asked for; a text where there is no such part. */
function rangeOf(header: string | undefined, size: number): Range | undefined | string {
  if (header === undefined || header === '') return undefined;
  const [, first = '', last = ''] = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/.exec(header) ?? [];
  if (first === '' && last === '') return /^bytes=.*,/.test(header) ? undefined : 'invalid range';
  if (first === '') return { from: Math.max(0, size - Number(last)), to: size };
  const [from, to] = [Number(first), last === '' ? size : Math.min(size, Number(last) + 1)];
  if (from >= size) return size === 0 ? undefined : 'invalid range: failed to overlap';
  return from < to ? { from, to } : 'invalid range';
}

/** Text has no control characters but those that move to another place, or begin a colour. */
async function sniffed(handle: FileHandle): Promise<string> {
  const start = await bytesAt(handle, 0, SNIFFED);
  if (start.subarray(0, GZIP.length).equals(GZIP)) return 'application/x-gzip';
  const isBinary = start.some(
    (byte) => byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1f && byte !== 0x1b),
  );
  return isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8';
}
