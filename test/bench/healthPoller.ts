/**
 * Requests a URL 20 times a second, in its own process, and writes the longest response time so far to a file, in
 * milliseconds. A request without a response yet counts with the time elapsed since it was sent.
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const INTERVAL_MS = 50;
const [, , url = '', file = ''] = process.argv;

let longest = 0;
let sentAt: number | undefined;

function note(): void {
  if (sentAt === undefined) return;
  const ms = performance.now() - sentAt;
  if (ms <= longest) return;
  longest = ms;
  writeFileSync(file, String(longest));
}

setInterval(note, INTERVAL_MS);
// The first request of a process takes longer than all others.
await (await fetch(url)).text();
writeFileSync(file, '0');
process.stdout.write('ready\n');
for (;;) {
  sentAt = performance.now();
  const response = await fetch(url);
  await response.text();
  note();
  sentAt = undefined;
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  await pause(INTERVAL_MS);
}
