/** HTTP responses, however they arrive: their content, and their errors in the words of Go's client. */
import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { appendChunk, type IncomingData, readResponse } from '../../../../actors/services/http/httpResponse.ts';

/** Reads a response that arrives in these pieces, after which the connection ends or remains open without data. */
function read(pieces: readonly string[], { stays = false, wanted = 20 } = {}): string {
  const incoming: IncomingData = { bytes: Buffer.alloc(0), hasEnded: false, inBody: false };
  const reading = readResponse(incoming, () => wanted);
  try {
    for (const piece of [...pieces, undefined]) {
      if (piece === undefined && stays) break;
      if (piece === undefined) incoming.hasEnded = true;
      else appendChunk(incoming, Buffer.from(piece, 'latin1'));
      const { done, value } = reading.next();
      if (done) return `${value.status} ${value.headers.get('location') ?? ''}[${value.body}]`;
    }
    return incoming.inBody ? 'waits for its body' : 'waits for its head';
  } catch (error) {
    return `${incoming.inBody ? 'body' : 'head'}: ${error instanceof Error ? error.message : error}`;
  }
}

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const ok = (...headers: string[]) => head('HTTP/1.1 200 OK', ...headers);
const broken = (words: string) => `head: net/http: HTTP/1.x transport connection broken: ${words}`;

const ANSWERS: readonly [what: string, answer: string, read: string][] = [
  ['a body with a Content-Length', `${ok('Content-Length: 5')}hello, and more`, '200 [hello]'],
  ['a body up to the end of the connection', `${head('HTTP/1.0 200 OK')}hello`, '200 [hello]'],
  ['a body longer than requested', `${ok('Content-Length: 99')}${'x'.repeat(99)}`, `200 [${'x'.repeat(20)}]`],
  ['lines that end with LF only', 'HTTP/1.0 404 Not Found\ncontent-length:2\n\nno', '404 [no]'],
  ['no reason phrase', head('HTTP/1.1 503', 'Content-Length: 0'), '503 []'],
  ['a status without a body', head('HTTP/1.1 204 No Content', 'Content-Length: 7'), '204 []'],
  ['the first of two headers', head('HTTP/1.1 302 Found', 'Location: /a', 'location: /b'), '302 /a[]'],
  ['an interim response', `${head('HTTP/1.1 100 Continue')}${ok('Content-Length: 1')}x`, '200 [x]'],
  ['chunks', `${ok('Transfer-Encoding: Chunked')}3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`, '200 [abc0123456789]'],
  [
    'more chunks than requested',
    `${ok('transfer-encoding: chunked')}40\r\n${'y'.repeat(64)}`,
    `200 [${'y'.repeat(20)}]`,
  ],
  ['an empty response', '', 'head: EOF'],
  ['an incomplete head', 'HTTP/1.1 200 OK\r\n', broken('unexpected EOF')],
  ['TLS', '\x15\x03\x01\x00\x02\x02', broken('malformed HTTP response "\\x15\\x03\\x01\\x00\\x02\\x02"')],
  ['a different protocol', 'SSH-2.0-OpenSSH_9.2p1 Debian\r\n', broken('malformed HTTP status code "Debian"')],
  ['an unknown HTTP version', head('HTTQ/1.1 200 OK'), broken('malformed HTTP version "HTTQ/1.1"')],
  ['a line that is not a header', ok('what is this'), broken('malformed MIME header line: what is this')],
  [
    'too many interim responses',
    head('HTTP/1.1 102 Processing').repeat(9),
    'head: net/http: too many 1xx informational responses',
  ],
  ['an incomplete body', `${ok('Content-Length: 5')}he`, 'body: unexpected EOF'],
  ['an invalid length', `${ok('Content-Length: -1')}he`, 'body: bad Content-Length "-1"'],
  ['an incomplete chunk', `${ok('Transfer-Encoding: chunked')}5\r\nhe`, 'body: unexpected EOF'],
  ['missing last chunk', `${ok('Transfer-Encoding: chunked')}2\r\nhe\r\n`, 'body: unexpected EOF'],
  [
    'a chunk of a different length',
    `${ok('Transfer-Encoding: chunked')}2\r\nhello\r\n`,
    'body: malformed chunked encoding',
  ],
  ['a chunk without a length', `${ok('Transfer-Encoding: chunked')}hello\r\n`, 'body: invalid byte in chunk length'],
];

describe('an HTTP response', () => {
  test.each(ANSWERS)('is parsed or rejected: %s', (_, answer, expected) => {
    expect(read([answer])).toBe(expected);
  });

  test('is parsed the same, however it is split into chunks', () => {
    const split = fc
      .constantFrom(...ANSWERS)
      .chain(([, answer, expected]) =>
        fc
          .array(fc.integer({ min: 0, max: answer.length }), { maxLength: 12 })
          .map((cuts) => ({ cuts: [0, ...cuts, answer.length].sort((a, b) => a - b), answer, expected })),
      );
    fc.assert(
      fc.property(split, ({ cuts, answer, expected }) => {
        expect(read(cuts.map((cut, index) => answer.slice(cut, cuts[index + 1])))).toBe(expected);
      }),
    );
  });

  test('is awaited while the connection is open, and returned as soon as it is complete', () => {
    expect(read(['HTTP/1.1 200 OK\r\n'], { stays: true })).toBe('waits for its head');
    expect(read([`${ok('Content-Length: 5')}he`], { stays: true })).toBe('waits for its body');
    expect(read([ok('Content-Length: 0')], { stays: true })).toBe('200 []');
    expect(read([`${ok('Transfer-Encoding: chunked')}0\r\n`], { stays: true })).toBe('200 []');
    expect(read([ok('Content-Length: 5')], { stays: true, wanted: 0 })).toBe('200 []');
  });

  test('that arrives byte by byte is neither copied nor searched again for each byte', () => {
    const count = 100_000;
    const incoming: IncomingData = { bytes: Buffer.alloc(0), hasEnded: false, inBody: false };
    const reading = readResponse(incoming, () => 0);
    const stores = new Set<ArrayBufferLike>();
    const search = jest.spyOn(Buffer.prototype, 'indexOf');
    for (let sent = 0; sent < count; sent += 1) {
      appendChunk(incoming, Buffer.from('x'));
      reading.next();
      stores.add(incoming.bytes.buffer);
    }
    const from = search.mock.calls.map(([, offset]) => offset);
    search.mockRestore();
    expect(from).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(stores.size).toBeLessThan(20);
    expect(incoming.bytes.equals(Buffer.alloc(count, 'x'))).toBe(true);
  });

  test('that exceeds the limits of its head is rejected', () => {
    expect(read(['x'.repeat(300_000)], { stays: true })).toMatch(/a line exceeded/);
    expect(read([ok(...Array.from({ length: 30_000 }, (_, i) => `h${i}: value`))])).toMatch(/headers exceeded/);
  });
});
