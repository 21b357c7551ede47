/** Responses with which a server could harm a client that requests pods from it, over a real connection. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { hostNetwork as network } from '../../../../actors/services/http/hostNetwork.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { fetchText } from '../../../../actors/sources/http/fetchText.ts';
import { MAX_TEXT_BYTES } from '../../../../actors/sources/manifest/manifestLimits.ts';
import { type Clock, systemClock } from '../../../../base/time/clock.ts';

let server: Server;
let url: string;
let answer: RequestListener;
let stop: AbortController;

beforeEach(async () => {
  stop = new AbortController();
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/pods`;
});

afterEach(() => {
  stop.abort();
  server.closeAllConnections();
  server.close();
});

const get = (clock: Clock = systemClock) => fetchText({ url, headers: [], clock, network, signal: stop.signal });
const tooMuch = `the response is larger than ${MAX_TEXT_BYTES} bytes`;

describe('the limit of 10 MiB for a decompressed response', () => {
  const zeros = Buffer.alloc(2 * MAX_TEXT_BYTES);
  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('%s', async (encoding, compress) => {
    const body = compress(zeros);
    expect(body.length).toBeLessThan(MAX_TEXT_BYTES / 10);
    answer = (_, response) => response.writeHead(200, { 'Content-Encoding': encoding }).end(body);
    await expect(get()).rejects.toThrow(tooMuch);
  });

  test('permits a compressed response', async () => {
    answer = (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('kind: Pod'));
    expect(await get()).toBe('kind: Pod');
  });

  test('stops the reading of an endless response, and closes its connection', async () => {
    const piece = Buffer.alloc(100_000, ' ');
    let closed: Promise<unknown> | undefined;
    answer = (_, response) => {
      closed = once(response, 'close');
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    };
    await expect(get()).rejects.toThrow(tooMuch);
    await closed;
  });
});

describe('the timeout of 10 s for a response', () => {
  /** Sends a request, lets the server start its response, and lets 10 s pass, after which the request must fail. */
  async function givenUp(begun: (response: ServerResponse) => void): Promise<void> {
    const clock = new SimulatedClock();
    const asked = new Promise<ServerResponse>((resolve) => {
      answer = (_, response) => {
        begun(response);
        resolve(response);
      };
    });
    const refused = expect(get(clock)).rejects.toThrow('no response within 10 s');
    const closed = once(await asked, 'close');
    await clock.advance(10_000);
    await refused;
    await closed;
  }

  test('applies to a response that starts and then hangs', () => givenUp((response) => response.flushHeaders()));

  test('applies to a response that arrives in small pieces', () =>
    givenUp((response) => {
      const drip = setInterval(() => response.write(' '), 1);
      response.on('close', () => clearInterval(drip));
    }));
});

test('a body that arrives byte by byte is read correctly', async () => {
  const text = 'apiVersion: v1 # ä€𝄞\n'.repeat(100);
  answer = (_, response) => {
    for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
    response.end();
  };
  expect(await get()).toBe(text);
});

test('a response is read whatever its content type is', async () => {
  answer = (_, response) => response.writeHead(200, { 'Content-Type': 'image/png' }).end('kind: Pod');
  expect(await get()).toBe('kind: Pod');
});

describe('a redirect', () => {
  test.each(['file:///etc/hostname', 'data:,kind:Pod', 'ftp://127.0.0.1/pods'])('to %s is not followed', async (to) => {
    answer = (_, response) => response.writeHead(302, { Location: to }).end();
    await expect(get()).rejects.toThrow(/scheme/);
  });

  test('to another path is followed, but not endlessly', async () => {
    answer = ({ url: path }, response) =>
      path === '/pods' ? response.writeHead(302, { Location: '/other' }).end() : response.end('kind: Pod');
    expect(await get()).toBe('kind: Pod');
    answer = (_, response) => response.writeHead(302, { Location: '/pods' }).end();
    await expect(get()).rejects.toThrow('redirect count exceeded');
  });
});

test('a response that is not HTTP fails with a specific reason', async () => {
  answer = (_, response) => response.socket?.end('hello\r\n\r\n');
  await expect(get()).rejects.toThrow(/^(?!fetch failed).+/);
});

test('an error response is reported and its connection closed, even if its body never ends', async () => {
  const closed = Promise.withResolvers<void>();
  answer = (_, response) => {
    response.once('close', closed.resolve);
    response.writeHead(403, 'Forbidden').write('because');
  };
  const silent = {
    fetch: async (...asked: Parameters<typeof network.fetch>) => {
      const { status, statusText } = await network.fetch(...asked);
      const body = { cancel: () => new Promise<never>(() => {}), async *[Symbol.asyncIterator]() {} };
      return { status, statusText, body };
    },
  };
  const fetched = fetchText({ url, headers: [], clock: systemClock, network: silent, signal: stop.signal });
  await expect(fetched).rejects.toThrow('the server answered 403 Forbidden');
  await closed.promise;
});
