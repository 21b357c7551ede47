import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The ports are below the ephemeral ports (`net.ipv4.ip_local_port_range`), which Linux assigns to outgoing connections
 * and to servers that listen on port 0. Such a connection could take a port between this check and its use.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;
/** Number of ports for each Jest worker. No other worker uses them. */
const BLOCK_SIZE = 500;

const blockCount = (LAST_PORT - FIRST_PORT + 1) / BLOCK_SIZE;
const firstOfBlock = FIRST_PORT + (Number(process.env.JEST_WORKER_ID ?? 0) % blockCount) * BLOCK_SIZE;
/** The offset of the next port. It is random at first, because other runs on this host have the same blocks. */
let offset = randomInt(BLOCK_SIZE);

/**
 * Returns a TCP port of this host on which nobody listens. No two calls in a process return the same port, because
 * nobody listens on a container's hostPort either, although its connections are redirected.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < BLOCK_SIZE; tried += 1) {
    offset = (offset + 1) % BLOCK_SIZE;
    if (await isFree(firstOfBlock + offset)) return firstOfBlock + offset;
  }
  throw new Error(`no port from ${firstOfBlock} to ${firstOfBlock + BLOCK_SIZE - 1} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
