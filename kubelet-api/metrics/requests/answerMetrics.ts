/** Answers a scrape as a kubelet does (`HandlerFor` in `component-base/metrics/http.go`). */
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Exchange } from '../../exchange.ts';
import { writeAll } from '../../writeAll.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';

/** A scrape comes again and again: what a higher level saves in bytes costs more processor time than it is worth. */
const GZIP_LEVEL = 1;

type Scrape = Pick<Exchange, 'request' | 'response' | 'signal'>;

/**
 * Sends the text, compressed if the client accepts that, at the client's pace: a chunk is made when the one before has left.
 * Ends early when the client has gone. `startedAt`: when this process began, in milliseconds since the epoch.
 */
export async function answerMetrics(
  { request, response, signal }: Scrape,
  chunks: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
  startedAt: number,
): Promise<void> {
  const isCompressed = acceptsGzip(request.headers['accept-encoding']);
  response.writeHead(200, {
    'Content-Type': CONTENT_TYPE,
    'Process-Start-Time-Unix': String(Math.trunc(startedAt / 1_000)),
    ...(isCompressed ? { 'Content-Encoding': 'gzip' } : lengthOf(chunks)),
  });
  await writeAll(response, isCompressed ? compressed(chunks, signal) : buffers(chunks), signal);
  response.end();
}

/** Of a text that is there as a whole: its parts then need no heads of their own, which would have each part copied. */
function lengthOf(chunks: Parameters<typeof buffers>[0]): { readonly 'Content-Length'?: number } {
  if (!Array.isArray(chunks) || !chunks.every((chunk) => Buffer.isBuffer(chunk))) return {};
  return { 'Content-Length': chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
}

async function* buffers(chunks: Iterable<string | Buffer> | AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** In the thread pool; whoever stops reading ends it. */
async function* compressed(chunks: Parameters<typeof buffers>[0], signal: AbortSignal): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: GZIP_LEVEL });
  const source = Readable.from(chunks, { highWaterMark: 1 });
  // What ends either ends both: the loop sees why.
  source.on('error', (error) => void gzip.destroy(error));
  source.pipe(gzip);
  const end = () => void gzip.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    yield* gzip;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', end);
    source.destroy();
    gzip.destroy();
  }
}

/** Whether it wants gzip more than nothing; `*` stands for both (`NegotiateContentEncoding` in client_golang). */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  const codings = [header ?? ''].flat().join().toLowerCase().split(',');
  const offered = codings.map((each) => /^\s*([^\s;]+)\s*(?:;\s*q=([\d.]+))?/.exec(each) ?? []);
  const qualityOf = (coding: string) =>
    Math.max(
      0,
      ...offered.flatMap(([, name, quality = '1']) => (name === coding || name === '*' ? Number(quality) : [])),
    );
  return qualityOf('gzip') > qualityOf('identity');
}
