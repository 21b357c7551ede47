/**
 * Responds to all GET requests except for `/hangs`, and records the intervals between the requests of each path.
 * `/figures` returns these intervals as JSON and resets them.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const lastAt = new Map<string, number>();
let [asked, intervals]: [number, number[]] = [0, []];

const server = createServer(({ url = '' }, response) => {
  if (url === '/figures') {
    const sorted = intervals.sort((a, b) => a - b);
    response.end(JSON.stringify({ asked, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 }));
    [asked, intervals] = [0, []];
    return;
  }
  asked += 1;
  if (url === '/hangs') return;
  const now = performance.now();
  const last = lastAt.get(url);
  if (last !== undefined) intervals.push(now - last);
  lastAt.set(url, now);
  response.end();
});
// The server listens on an IP address, so the address is an object.
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
