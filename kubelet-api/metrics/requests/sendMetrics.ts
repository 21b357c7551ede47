/** Sends the response to a scrape as the kubelet does (`HandlerFor` in `component-base/metrics/http.go`). */
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Exchange } from '../../exchange.ts';
import { writeAll } from '../../writeAll.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

/** Compression level. Scrapes are frequent, so the smaller output of a higher level is not worth the extra CPU time. */
const GZIP_LEVEL = 1;

type ScrapeExchange = Pick<Exchange, 'request' | 'response' | 'signal'>;

/**
 * Sends the chunks, compressed if the client accepts gzip. Takes the next chunk from the iterable only after sending
 * the previous one. Stops when the client disconnects. `startedAt` is the start of this process in milliseconds since
 * the epoch.
 */
export async function sendMetrics(
  { request, response, signal }: ScrapeExchange,
  chunks: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
  startedAt: number,
): Promise<void> {
  const isCompressed = acceptsGzip(request.headers['accept-encoding']);
  response.writeHead(200, {
    'Content-Type': CONTENT_TYPE,
    'Process-Start-Time-Unix': String(Math.trunc(startedAt / 1_000)),
    ...(isCompressed ? { 'Content-Encoding': 'gzip' } : contentLengthHeader(chunks)),
  });
  await writeAll(response, isCompressed ? compressChunks(chunks, signal) : generateBuffers(chunks), signal);
  response.end();
}

/**
 * Returns the Content-Length header for chunks that are all in memory. The header avoids chunked encoding, which would
 * copy each chunk.
 */
function contentLengthHeader(chunks: Parameters<typeof generateBuffers>[0]): { readonly 'Content-Length'?: number } {
  if (!Array.isArray(chunks) || !chunks.every((chunk) => Buffer.isBuffer(chunk))) return {};
  return { 'Content-Length': chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
}

async function* generateBuffers(
  chunks: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** Compresses the chunks in the thread pool. If the consumer stops early, the streams are destroyed. */
async function* compressChunks(
  chunks: Parameters<typeof generateBuffers>[0],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: GZIP_LEVEL });
  const source = Readable.from(chunks, { highWaterMark: 1 });
  // Propagate errors of the source to the reader of `gzip`.
  source.on('error', (error) => void gzip.destroy(error));
  source.pipe(gzip);
  const destroyGzip = () => void gzip.destroy();
  signal.addEventListener('abort', destroyGzip, { once: true });
  try {
    yield* gzip;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', destroyGzip);
    source.destroy();
    gzip.destroy();
  }
}

/** Whether an Accept-Encoding header prefers gzip to identity (`NegotiateContentEncoding` in client_golang). */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  const codings = [header ?? ''].flat().join().toLowerCase().split(',');
  const offeredCodings = codings.map((each) => /^\s*([^\s;]+)\s*(?:;\s*q=([\d.]+))?/.exec(each) ?? []);
  const getQuality = (coding: string) =>
    Math.max(
      0,
      ...offeredCodings.flatMap(([, name, quality = '1']) => (name === coding || name === '*' ? Number(quality) : [])),
    );
  return getQuality('gzip') > getQuality('identity');
}
