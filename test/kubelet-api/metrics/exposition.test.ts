/** Tests the text format of metrics and its transfer to a scraper. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { formatLabels, generateChunks, goFloat, type MetricFamily } from '../../../kubelet-api/metrics/exposition.ts';
import { acceptsGzip, sendMetrics } from '../../../kubelet-api/metrics/requests/sendMetrics.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { atEnd, listening, route } from '../listener/support/listening.ts';

const family = (name: string, samples: MetricFamily['samples'], over: Partial<MetricFamily> = {}): MetricFamily => ({
  name,
  help: 'What it is.',
  type: 'gauge',
  samples,
  ...over,
});

test('a family has its help text, its type and its samples, with a timestamp if they have one', () => {
  const families = [
    family('up', [{ labels: '', value: 1 }]),
    family('used', [
      {
        labels: formatLabels([
          ['id', '/'],
          ['pod', ''],
        ]),
        value: 1234567,
        timestampMs: 1_700_000_000_123.9,
      },
    ]),
    family('none', []),
    family('took', [{ suffix: '_bucket', labels: 'le="+Inf"', value: 3 }], { type: 'histogram', help: 'a\\b\nc' }),
  ];
  expect([...generateChunks(families)].join('')).toBe(
    `# HELP up What it is.
# TYPE up gauge
up 1
# HELP used What it is.
# TYPE used gauge
used{id="/",pod=""} 1.234567e+06 1700000000123
# HELP took a\\\\b\\nc
# TYPE took histogram
took_bucket{le="+Inf"} 3
`,
  );
});

test('special characters in a label are escaped', () => {
  expect(formatLabels([['name', 'a"b\\c\nd{}=']])).toBe('name="a\\"b\\\\c\\nd{}="');
});

test.each([
  [0, '0'],
  [-0, '-0'],
  [1, '1'],
  [0.1, '0.1'],
  [999999, '999999'],
  [1e6, '1e+06'],
  [9437184, '9.437184e+06'],
  [1.7958e21, '1.7958e+21'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [-2.5, '-2.5'],
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [Number.NaN, 'NaN'],
])('%p is formatted as %s, as in Go', (value, text) => {
  expect(goFloat(value)).toBe(text);
});

test.each([
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['gzip;q=0', false],
  ['gzip;q=0.5, identity', false],
  ['identity;q=0.5, gzip', true],
  ['*', false],
  ['zstd', false],
  [undefined, false],
])('a client that accepts %p gets gzip: %p', (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted);
});

/** A family whose text exceeds the buffers of a connection. */
const MANY = family('many', {
  *[Symbol.iterator]() {
    for (let at = 0; at < 100_000; at += 1) yield { labels: `at="${at}"`, value: at };
  },
});

test('the output is split into chunks of about 64 KiB without losses', () => {
  const chunks = [...generateChunks([MANY])];
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(66_000);
  expect(chunks.join('').split('\n')).toHaveLength(100_003);
});

test('C42: a response has the headers of a kubelet', async () => {
  const scraped = route('/metrics', (exchange) => sendMetrics(exchange, generateChunks([MANY]), 1_700_000_000_900));
  const { ask } = await listening({ routes: [scraped] });
  const { headers, body } = await ask('/metrics');
  expect(headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    'process-start-time-unix': '1700000000',
  });
  expect(headers).not.toHaveProperty('content-encoding');
  expect(body).toBe([...generateChunks([MANY])].join(''));
});

/** Scrapes over plain HTTP a server that serves only these chunks. */
async function scrape(chunks: () => Iterable<string>, headers: Readonly<Record<string, string>>) {
  const client = new AbortController();
  const done = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    response.on('close', () => client.abort());
    const exchange = { request, response, signal: client.signal };
    sendMetrics(exchange, chunks(), 0).then(done.resolve, done.reject);
  });
  atEnd(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const clientRequest = request({ host: '127.0.0.1', port, headers }).end();
  clientRequest.on('error', () => {});
  // Safe cast: the event has these arguments.
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
  return { response, done: done.promise };
}

test('a response is compressed if the client accepts that', async () => {
  const { response, done } = await scrape(() => generateChunks([MANY]), { 'accept-encoding': 'gzip' });
  expect(response.headers['content-encoding']).toBe('gzip');
  const body = gunzipSync(await buffer(response)).toString();
  expect(body).toBe([...generateChunks([MANY])].join(''));
  await done;
});

test.each(['identity', 'gzip'])(
  'a response is generated no faster than the client reads, and no longer once the client disconnects (%s)',
  async (coding) => {
    let made = 0;
    let hasEnded = false;
    function* endless() {
      try {
        for (;;) {
          made += 1;
          // Random bytes cannot be compressed.
          yield randomBytes(48 * 1024).toString('base64');
        }
      } finally {
        hasEnded = true;
      }
    }
    const { response, done } = await scrape(endless, { 'accept-encoding': coding });
    response.on('error', () => {});
    response.once('readable', () => {});
    const settled = async () => {
      const before = made;
      await wait(300);
      return made === before || undefined;
    };
    await eventually('no more is made than the buffers of the connection hold', settled);
    expect(made).toBeLessThan(200);
    response.destroy();
    await done;
    expect(hasEnded).toBe(true);
  },
);
