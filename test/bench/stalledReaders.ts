/** Measures the memory cost of clients that have stopped reading a log. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMemory, shareOf } from './processFacts.ts';

/** Number of clients over which the memory is averaged. */
export const READERS = 200;
const KIB_PER_MIB = 1_024;
/** CPU usage in percent of a core below which everything that fits into the kernel's buffers has been sent. */
const IDLE_SHARE = 5;
/** Time after which the agent has released the memory that was needed for sending. */
const RELEASE_MS = 15_000;

interface Server {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
}

/** Returns the resident memory per client in KiB, minus that of a connection without a request. */
export async function memoryOfStalled({ pid, port, token }: Server, path: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: READERS, rejectUnauthorized: false });
  const ask = async (asked: string): Promise<IncomingMessage> => {
    const headers = { authorization: `Bearer ${token}` };
    const request = get({ host: '127.0.0.1', port, path: asked, agent, headers });
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (response?.statusCode !== 200) throw new Error(`${asked}: ${response?.statusCode}`);
    // The connection is destroyed at the end.
    for (const each of [request, response]) each.on('error', () => {});
    return response;
  };
  const askAll = (asked: string) => Promise.all(Array.from({ length: READERS }, () => ask(asked)));
  try {
    await pause(RELEASE_MS);
    for (const response of await askAll('/healthz')) response.resume();
    await calm(pid);
    const before = await residentMemory(pid);
    await askAll(path);
    await calm(pid);
    await pause(RELEASE_MS);
    return (((await residentMemory(pid)) - before) / READERS) * KIB_PER_MIB;
  } finally {
    agent.destroy();
  }
}

async function calm(pid: number): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    if ((await shareOf(pid, 1)) < IDLE_SHARE) return;
  }
  throw new Error(`process ${pid} does not come to rest`);
}
