import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { pageDirectory, startPage } from '../../node/page.ts';
import { certificate, key } from '../actors/services/certificate.ts';
import { ask, fakeInspected, until } from '../inspect/support/served.ts';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type PageOptions = Parameters<typeof startPage>[0];

function started(inspect: PageOptions['config']['inspect'], nodeIps: readonly string[] = ['192.0.2.1']) {
  const clock = new SimulatedClock();
  const warnings: string[] = [];
  const told: string[] = [];
  const urls: string[] = [];
  let made = 0;
  const page = startPage({
    config: { nodeIps, ...(inspect ? { inspect } : {}) },
    logger: {
      warn: (...words: readonly unknown[]) => void warnings.push(String(words.at(-1))),
      error: () => {},
      info: (...words: readonly unknown[]) => void told.push(String(words.at(-1))),
    },
    inspected: async () => {
      made += 1;
      return fakeInspected();
    },
    onServed: (url) => urls.push(url),
    clock,
  });
  ends.push(page.close);
  return { ...{ clock, page, warnings, told, urls }, made: () => made };
}

/** Another process that has a port. */
async function takenPort(): Promise<{ readonly port: number; readonly free: () => Promise<unknown> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const free = async () => server.listening && (await once(server.close(), 'close'));
  ends.push(free);
  // One that listens on a port has an address.
  return { port: (server.address() as AddressInfo).port, free };
}

test('an address that is taken is tried again every 5 s, told of once, and served once it is free', async () => {
  const { port, free } = await takenPort();
  const { clock, warnings, urls, told, made } = started({ address: { host: '127.0.0.1', port } });
  await until(() => clock.pending === 1);
  await clock.advance(4_999);
  expect(warnings).toEqual([
    expect.stringMatching(
      new RegExp(`^no page, retrying every 5 s: --inspect-address 127\\.0\\.0\\.1:${port}: listen EADDRINUSE`),
    ),
  ]);
  await clock.advance(1);
  await until(() => clock.pending === 1);
  await free();
  expect(urls).toEqual([]);
  await clock.advance(5_000);
  await until(() => urls.length === 1);
  expect(urls).toEqual([`http://127.0.0.1:${port}/`]);
  expect(told).toEqual([`the page is at http://127.0.0.1:${port}/`]);
  expect([warnings.length, clock.pending, made()]).toEqual([1, 0, 0]);
  expect((await ask(port, '/api/rail')).code).toBe(200);
  expect(made()).toBe(1);
});

test('one that is closed while it waits, or while it begins, is not tried again', async () => {
  const { port, free } = await takenPort();
  const waiting = started({ address: { host: '127.0.0.1', port } });
  await until(() => waiting.clock.pending === 1);
  const beginning = started({ address: { host: '127.0.0.1', port } });
  await Promise.all([waiting.page.close(), beginning.page.close()]);
  await free();
  for (const { clock, urls } of [waiting, beginning]) {
    expect(clock.pending).toBe(0);
    await clock.advance(60_000);
    expect(urls).toEqual([]);
  }
  const served = started({ address: { host: '127.0.0.1', port } });
  await until(() => served.urls.length === 1);
  await served.page.close();
  await expect(ask(port, '/')).rejects.toThrow('ECONNREFUSED');
});

test('without an address there is none, and nothing waits', async () => {
  const { clock, page, warnings, urls } = started(undefined);
  await page.close();
  expect([clock.pending, warnings, urls]).toEqual([0, [], []]);
});

test('one that other hosts reach has TLS, a token that is another one each time, and the address of the node', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-tls-'));
  ends.push(() => rm(directory, { recursive: true }));
  const tls = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  await writeFile(tls.certFile, certificate);
  const address = { host: '0.0.0.0', port: 0 };
  const early = started({ address, tls });
  await until(() => early.clock.pending === 1);
  await early.clock.advance(5_000);
  await until(() => early.clock.pending === 1);
  expect(early.warnings).toEqual([expect.stringContaining(tls.keyFile)]);
  // Another reason is told of, too.
  await writeFile(tls.keyFile, 'no key');
  await early.clock.advance(5_000);
  await until(() => early.warnings.length === 2);
  expect(early.warnings[1]).not.toContain(tls.keyFile);
  await until(() => early.clock.pending === 1);
  await writeFile(tls.keyFile, key);
  await early.clock.advance(5_000);
  const other = started({ address, tls }, ['2001:db8::1']);
  await until(() => early.urls.length === 1 && other.urls.length === 1);
  const [url, otherUrl] = [new URL(early.urls[0] ?? ''), new URL(other.urls[0] ?? '')];
  expect([url.protocol, url.hostname, otherUrl.hostname]).toEqual(['https:', '192.0.2.1', '[2001:db8::1]']);
  const [token, otherToken] = [url, otherUrl].map(({ searchParams }) => searchParams.get('token') ?? '');
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(token).not.toBe(otherToken);
  // Whoever reads the log is not to look.
  expect(early.told).toEqual([`the page is at ${url.origin}/`]);
  const codeOf = async (path: string) => {
    const asked = request({ host: '127.0.0.1', port: url.port, path, rejectUnauthorized: false, agent: false });
    asked.end();
    const [response] = await once(asked, 'response');
    response.resume();
    return response.statusCode;
  };
  expect(await Promise.all([codeOf('/'), codeOf(`/?token=${otherToken}`), codeOf(`/?token=${token}`)])).toEqual([
    401, 401, 303,
  ]);
});

test('the build leaves it in the package', () => {
  expect(pageDirectory()).toMatch(/\/dist\/web$/);
});
