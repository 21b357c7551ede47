import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { pageDirectory, startPage } from '../../../node/serve/page.ts';
import { pageLinkPath, writePageLink } from '../../../node/serve/pageLink.ts';
import { certificate, key } from '../../actors/services/certificate.ts';
import { ask, fakeInspected, sendBytes, until, upgradeOf } from '../../inspect/support/served.ts';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type PageOptions = Parameters<typeof startPage>[0];

interface StartOptions {
  readonly nodeIps?: readonly string[];
  readonly rootDirectory?: string;
}

function started(
  inspect: PageOptions['config']['inspect'],
  { nodeIps = ['192.0.2.1'], rootDirectory = '/nothing/here' }: StartOptions = {},
) {
  const clock = new SimulatedClock();
  const warnings: string[] = [];
  const told: string[] = [];
  const urls: string[] = [];
  let made = 0;
  const page = startPage({
    config: { nodeIps, rootDirectory, ...(inspect ? { inspect } : {}) },
    logger: {
      warn: (...words: readonly unknown[]) => void warnings.push(String(words.at(-1))),
      error: () => {},
      info: (...words: readonly unknown[]) => void told.push(String(words.at(-1))),
    },
    createInspected: async () => {
      made += 1;
      return fakeInspected();
    },
    onServed: (url) => urls.push(url),
    clock,
  });
  ends.push(page.close);
  return { clock, page, warnings, told, urls, made: () => made };
}

/** Creates a server that occupies a port. */
async function takenPort(): Promise<{ readonly port: number; readonly free: () => Promise<unknown> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const free = async () => server.listening && (await once(server.close(), 'close'));
  ends.push(free);
  // The address of a server that listens on a port is an AddressInfo.
  return { port: (server.address() as AddressInfo).port, free };
}

test('an address in use is retried every 5 s, reported once, and served once it is free', async () => {
  const { port, free } = await takenPort();
  const { clock, warnings, urls, told, made } = started({ address: { host: '127.0.0.1', port }, isOpen: true });
  await until(() => clock.pending === 1);
  await clock.advance(4_999);
  expect(warnings).toEqual([
    `the page is not served, retrying every 5 s: port ${port} of 127.0.0.1 is in use by another process (--inspect-address chooses another address, or none)`,
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

test('a page that is closed while it waits or starts is not retried', async () => {
  const { port, free } = await takenPort();
  const waiting = started({ address: { host: '127.0.0.1', port }, isOpen: true });
  await until(() => waiting.clock.pending === 1);
  const beginning = started({ address: { host: '127.0.0.1', port }, isOpen: true });
  await Promise.all([waiting.page.close(), beginning.page.close()]);
  await free();
  for (const { clock, urls } of [waiting, beginning]) {
    expect(clock.pending).toBe(0);
    await clock.advance(60_000);
    expect(urls).toEqual([]);
  }
  const served = started({ address: { host: '127.0.0.1', port }, isOpen: true });
  await until(() => served.urls.length === 1);
  await served.page.close();
  await expect(ask(port, '/')).rejects.toThrow('ECONNREFUSED');
});

test('without an address there is no page, and no retry', async () => {
  const { clock, page, warnings, urls } = started(undefined);
  await page.close();
  expect([clock.pending, warnings, urls]).toEqual([0, [], []]);
});

test('a page for other hosts has TLS, a new token at each start, and the address of the node', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-tls-'));
  ends.push(() => rm(directory, { recursive: true }));
  const tls = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  await writeFile(tls.certFile, certificate);
  const address = { host: '0.0.0.0', port: 0 };
  const early = started({ address, isOpen: false, tls });
  await until(() => early.clock.pending === 1);
  await early.clock.advance(5_000);
  await until(() => early.clock.pending === 1);
  expect(early.warnings).toEqual([expect.stringContaining(tls.keyFile)]);
  // A different reason is reported as well.
  await writeFile(tls.keyFile, 'no key');
  await early.clock.advance(5_000);
  await until(() => early.warnings.length === 2);
  expect(early.warnings[1]).not.toContain(tls.keyFile);
  await until(() => early.clock.pending === 1);
  await writeFile(tls.keyFile, key);
  await early.clock.advance(5_000);
  const other = started({ address, isOpen: false, tls }, { nodeIps: ['2001:db8::1'] });
  await until(() => early.urls.length === 1 && other.urls.length === 1);
  const [url, otherUrl] = [new URL(early.urls[0] ?? ''), new URL(other.urls[0] ?? '')];
  expect([url.protocol, url.hostname, otherUrl.hostname]).toEqual(['https:', '192.0.2.1', '[2001:db8::1]']);
  const [token, otherToken] = [url, otherUrl].map(({ searchParams }) => searchParams.get('token') ?? '');
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(token).not.toBe(otherToken);
  // The log must not contain the token, because its readers may not be allowed to see the page.
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

/** Requests `/api/rail` with the cookie that the link sets. */
async function codeWithLink(link: string): Promise<number> {
  const { port, search } = new URL(link);
  const { headers } = await ask(Number(port), `/${search}`);
  const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
  return (await ask(Number(port), '/api/rail', { headers: { cookie } })).code;
}

test('a page for this host only requires the token of its link as well', async () => {
  const { urls, told } = started({ address: { host: '127.0.0.1', port: 0 }, isOpen: false });
  await until(() => urls.length === 1);
  const link = new URL(urls[0] ?? '');
  expect(link.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}$/);
  expect(told).toEqual([`the page is at ${link.origin}/`]);
  for (const path of ['/', '/api/snapshot', '/api/rail', '/api/stream', '/api/detail?path=pod'])
    expect([path, (await ask(Number(link.port), path)).code]).toEqual([path, 401]);
  expect(await sendBytes(Number(link.port), upgradeOf(Number(link.port), '/stately'))).toMatch(/^HTTP\/1\.1 401 /);
  expect(await codeWithLink(link.href)).toBe(200);
});

test('a page that is open in a browser continues after a restart of the agent', async () => {
  const rootDirectory = await mkdtemp(join(tmpdir(), 'statelet-root-'));
  ends.push(() => rm(rootDirectory, { recursive: true }));
  const inspect = { address: { host: '127.0.0.1', port: 0 }, isOpen: false };
  const first = started(inspect, { rootDirectory });
  await until(() => first.urls.length === 1);
  await writePageLink(pageLinkPath(rootDirectory), first.urls[0] ?? '');
  await first.page.close();
  const second = started(inspect, { rootDirectory });
  await until(() => second.urls.length === 1);
  expect(new URL(second.urls[0] ?? '').search).toBe(new URL(first.urls[0] ?? '').search);
});

test('the build puts the page into the package', () => {
  expect(pageDirectory()).toMatch(/\/dist\/web$/);
});
