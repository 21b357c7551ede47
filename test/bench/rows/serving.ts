import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { noAbort } from '../../e2e/support/containerd.ts';
import { freePort } from '../../e2e/support/freePort.ts';
import type { AgentPlace, AgentProcess } from '../agentProcess.ts';
import { type Child, withProcess } from '../childProcess.ts';
import { type BenchNode, endPods, fullNameOf, namesFor, runPods, withAgent } from '../node.ts';
import { shareOf } from '../processFacts.ts';
import type { Figure } from '../report.ts';
import {
  agentEnvironment,
  type Got,
  gotAll,
  pairOf,
  ranAt,
  SCRAPE_MS,
  SCRAPED,
  type ServedClient,
  scrape,
  servedClient,
  tokenOf,
  whileScraped,
} from '../served.ts';
import { memoryOfStalled, READERS } from '../stalledReaders.ts';
import { median, milliseconds, preciseNow } from '../statistics.ts';
import type { RunningPod } from '../watcher.ts';

const row = 'serving';
const PODS = 100;
const WARM = 3;
const MIB = 1024 * 1024;
const LINE = `2026-05-04T12:00:00.123456789Z stdout F ${'x'.repeat(199)}\n`;
const LOG_BYTES = 128 * MIB;
const SMALL_BYTES = MIB;
const SPARSE_BYTES = 10 * 1024 * MIB;
/** Time after which the agent has finished all work that follows the start of many pods. */
const CALM_MS = 5_000;
const SETTLE_MS = 300;
/** Number of consecutive starts, some of which coincide with a scrape. */
const IN_A_ROW = 10;

interface Served {
  readonly node: BenchNode;
  readonly daemon: AgentProcess;
  readonly server: { readonly port: number; readonly token: string };
  readonly client: ServedClient;
  readonly plain: ServedClient;
  /** Directory whose files the other server serves. */
  readonly files: string;
  readonly repeats: number;
}

/** Measures the kubelet API: the duration of commands, logs and scrapes, and how much they slow down the pods. */
export async function serving(node: BenchNode, repeats: number, seconds: number): Promise<Figure[]> {
  const port = await freePort();
  const serve = async (daemon: AgentProcess) => {
    const files = join(node.place.directory, 'plain');
    await mkdir(join(files, 'stored'), { recursive: true });
    const token = await served(node.place);
    const compare = async ({ said }: Child) => {
      const [client, plain] = [servedClient(port, token), servedClient(Number(said))];
      const parts = { node, daemon, server: { port, token }, client, plain, files, repeats };
      const figures = [...(await onOnePod(parts)), ...(await scrapes(parts, seconds)), await beside(parts)];
      for (const each of [client, plain]) each.close();
      return figures;
    };
    return withProcess('plainServer.ts', [files, ...pairOf(node.place)], compare, await agentEnvironment());
  };
  return withAgent(node.place, serve, { port });
}

/** Waits until the node serves its API, which starts independently of the pods. */
async function served(place: AgentPlace): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const token = await tokenOf(place).catch(() => undefined);
    if (token !== undefined) return token;
    await pause(100);
  }
  throw new Error('the API of the node is not served in time');
}

async function onOnePod(parts: Served): Promise<Figure[]> {
  const { node, daemon } = parts;
  const name = 'served';
  const { pods } = await runPods(node.place, daemon, [name]);
  const [pod] = pods;
  if (pod === undefined) throw new Error('there is no pod');
  const figures = [await execs(parts, pod), ...(await logs(parts, pod))];
  await endPods(node, [name], pods);
  return figures;
}

const pathOf = (kind: string, name: string): string => `/${kind}/default/${fullNameOf(name)}/main`;

async function execs({ node: { cri }, client, repeats }: Served, { containerId }: RunningPod): Promise<Figure> {
  const path = `${pathOf('exec', 'served')}?command=true&output=1&error=1`;
  const straight = async () => {
    const began = preciseNow();
    const asked = { containerId, cmd: ['true'], tty: false, stdin: false, stdout: true, stderr: true };
    const { url } = await cri.exec(asked, { signal: noAbort });
    const asking = preciseNow() - began;
    return asking + (await ranAt(url));
  };
  for (let index = 0; index < WARM; index += 1) await client.ran(path);
  const [through, bare]: [number[], number[]] = [[], []];
  for (let index = 0; index < repeats; index += 1) {
    bare.push(await straight());
    through.push(await client.ran(path));
  }
  return {
    row,
    name: 'exec of true: more than straight from the runtime',
    unit: 'ms',
    goal: 10,
    value: median(through) - median(bare),
    detail: `${milliseconds(through)}; straight ${milliseconds(bare)}`,
  };
}

async function logs(
  { node: { cri }, daemon, server, client, plain, files, repeats }: Served,
  pod: RunningPod,
): Promise<Figure[]> {
  const { status } = await cri.containerStatus({ containerId: pod.containerId, verbose: false }, { signal: noAbort });
  const log = status?.logPath ?? '';
  const whole = pathOf('containerLogs', 'served');
  await writeFile(log, LINE.repeat(LOG_BYTES / LINE.length));
  await writeFile(join(files, 'plain.log'), LINE.repeat(LOG_BYTES / LINE.length));
  const perByte = async (asked: ReturnType<ServedClient['got']>) => {
    const { ms, bytes } = await asked;
    return (ms / bytes) * MIB;
  };
  const [read, file]: [number[], number[]] = [[], []];
  for (let index = 0; index < repeats; index += 1) {
    file.push(await perByte(plain.got('/plain.log')));
    read.push(await perByte(client.got(whole)));
  }
  const stalled = await memoryOfStalled({ pid: daemon.pid, ...server }, whole);
  const tail = async (size: number) => {
    await sparse(log, size);
    await client.got(`${whole}?tailLines=100`);
    const times: number[] = [];
    for (let index = 0; index < repeats; index += 1) times.push((await client.got(`${whole}?tailLines=100`)).ms);
    return times;
  };
  const [small, large] = [await tail(SMALL_BYTES), await tail(SPARSE_BYTES)];
  return [
    {
      row,
      name: 'a log of 200-byte lines, a byte against one of a plain file',
      unit: '×',
      goal: 2,
      value: median(read) / median(file),
      detail: `${rate(read)}; plain ${rate(file)}`,
    },
    {
      row,
      name: 'a reader of a log that stops reading: memory (resident)',
      unit: 'KiB',
      goal: 64,
      value: stalled,
      detail: `each of ${READERS}, above an idle connection`,
    },
    {
      row,
      name: 'the tail of a sparse log of 10 GB, against one of 1 MB',
      unit: '×',
      goal: 2,
      value: median(large) / median(small),
      detail: `${median(large).toFixed(1)} ms; ${median(small).toFixed(1)} ms`,
    },
  ];
}

const rate = (msPerMib: readonly number[]): string => `${(1_000 / median(msPerMib)).toFixed(0)} MiB/s`;

/** Creates a file that is sparse except for its last lines. */
async function sparse(path: string, size: number): Promise<void> {
  const lines = LINE.repeat(Math.floor(SMALL_BYTES / LINE.length));
  const handle = await open(path, 'w');
  await handle.write(lines, Math.max(0, size - lines.length));
  await handle.close();
}

async function scrapes(parts: Served, seconds: number): Promise<Figure[]> {
  const { node, daemon, client, plain, files, repeats } = parts;
  const names = namesFor('scraped', PODS);
  const { pods } = await runPods(node.place, daemon, names);
  await pause(CALM_MS);
  for (const [index, path] of SCRAPED.entries())
    await writeFile(join(files, 'stored', String(index)), await client.body(path));
  const [scraped, stored]: [Got[], Got[]] = [[], []];
  for (let index = 0; index < repeats; index += 1) {
    stored.push(await gotAll(SCRAPED.map((_, at) => () => plain.got(`/stored/${at}`))));
    scraped.push(await scrape(client));
  }
  const without = await shareOf(daemon.pid, seconds);
  const scrapedSeconds = Math.max(seconds, 4 * (SCRAPE_MS / 1_000));
  const share = (paths?: string[]) => whileScraped(client, () => shareOf(daemon.pid, scrapedSeconds), paths);
  const [summary, all] = [await share(['/stats/summary']), await share()];
  await endPods(node, names, pods);
  const [ms, floor] = [scraped.map((each) => each.ms), stored.map((each) => each.ms)];
  const kib = median(scraped.map(({ bytes }) => bytes)) / 1024;
  return [
    {
      row,
      name: 'all scrapes, against serving their stored bytes',
      unit: '×',
      goal: 3,
      value: median(ms) / median(floor),
      detail: `${PODS} pods, ${kib.toFixed(0)} KiB: ${milliseconds(ms)}; stored ${milliseconds(floor)}`,
    },
    {
      row,
      name: 'the summary every 15 s: CPU, of one core',
      value: summary - without,
      unit: '%',
      goal: 1,
      detail: `${PODS} pods: ${summary.toFixed(2)} %; all scrapes ${all.toFixed(2)} %; without ${without.toFixed(2)} %`,
    },
  ];
}

/** Measures how much longer a pod takes to start during scrapes, a command and a followed log. */
async function beside({ node, daemon, client, repeats }: Served): Promise<Figure> {
  const { pods } = await runPods(node.place, daemon, ['besides']);
  const start = async (name: string) => {
    const { addedAt, pods: started } = await runPods(node.place, daemon, [name]);
    await pause(SETTLE_MS);
    const ms = Math.max(...started.map(({ at }) => at)) - addedAt;
    await endPods(node, [name], started);
    return ms;
  };
  const [alone, busy]: [number[], number[]] = [[], []];
  for (let index = 0; index < WARM; index += 1) await start(`beside-warm-${index}`);
  const startBeside = async (name: string) => {
    const end = await busyClients(client);
    busy.push(await start(name));
    end();
  };
  for (let at = 0; at < repeats; at += IN_A_ROW) {
    const names = namesFor(`turn-${at}`, Math.min(IN_A_ROW, repeats - at));
    for (const name of names) alone.push(await start(`${name}-alone`));
    await whileScraped(client, async () => {
      for (const name of names) await startBeside(name);
    });
  }
  await endPods(node, ['besides'], pods);
  return {
    row,
    name: 'one pod beside scrapes every 15 s, a command and a followed log',
    unit: '×',
    goal: 1.05,
    value: median(busy.map((ms, index) => ms / (alone[index] ?? Number.NaN))),
    detail: `${milliseconds(busy)}; alone ${milliseconds(alone)}`,
  };
}

const ECHOES = ['sh', '-c', 'while read line; do echo $line; done'].map(
  (word) => `command=${encodeURIComponent(word)}`,
);
/** Input for the command: the number of the channel, followed by the bytes. */
const SAID = Buffer.from([0, ...Buffer.from('said\n')]);
const SAY_MS = 100;
/** Time after which the agent has finished all work that follows the start of the session. */
const STEADY_MS = 1_000;

async function busyClients(client: ServedClient): Promise<() => void> {
  const session = await client.running(`${pathOf('exec', 'besides')}?${ECHOES.join('&')}&input=1&output=1`);
  const log = await client.followed(`${pathOf('containerLogs', 'besides')}?follow=true`);
  log.on('error', () => {}).resume();
  const timer = setInterval(() => session.send(SAID), SAY_MS);
  await pause(STEADY_MS);
  return () => {
    clearInterval(timer);
    log.destroy();
    session.terminate();
  };
}
