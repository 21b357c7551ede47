import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { freePort } from './freePort.ts';

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function listen(port: number): Promise<number> {
  const server = createServer();
  ends.push(() => server.close());
  await once(server.listen(port, '127.0.0.1'), 'listening');
  // The address of a server that listens on a port is an AddressInfo.
  return (server.address() as AddressInfo).port;
}

test('a free port is below the range of clients and of listeners on port 0', async () => {
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  expect(await freePort()).toBeLessThan(Number(range.split('\t')[0]));
});

test('two free ports differ, and a port in use is not free', async () => {
  const first = await freePort();
  const following = await Promise.all([1, 2, 3].map((distance) => listen(first + distance)));
  const second = await freePort();
  expect([first, ...following]).not.toContain(second);
  expect(await listen(second)).toBe(second);
});
