import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { withSimulatedPlace } from './simulatedPlace.ts';
import { withAgent, runPods, namesFor } from './node.ts';
import { residentMemory } from './processFacts.ts';
const directory = await mkdtemp('/tmp/zzmem-');
const addr = process.argv[2] ?? '';
const n = Number(process.argv[3] ?? 50);
await withSimulatedPlace(directory, (place) => withAgent({ ...place, command: process.env.CMD ?? place.command }, async (daemon) => {
  await runPods({ ...place }, daemon, namesFor('mem', n));
  await pause(Number(process.argv[4] ?? 40) * 1000);
  const s = await readFile(`/proc/${daemon.pid}/status`, 'utf8');
  console.log(addr || 'off', place.command, (await residentMemory(daemon.pid)).toFixed(1), 'MiB', s.match(/Rss\w+:.*/g)?.join(' ').replace(/\s+/g, ' '), s.match(/Threads:.*/)?.[0]);
}, { inspectAddress: addr }));
process.exit(0);
