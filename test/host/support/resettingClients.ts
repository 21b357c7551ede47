/**
 * TLS clients that reset their connection right after sending a request, and a count of the sockets that this leaves
 * open.
 */
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect } from 'node:tls';

const AT_A_TIME = 50;

/**
 * Sends one request over each of `count` loopback connections. The reset reaches the server before the request does, as
 * the server runs in the same process and has not read it yet.
 */
export async function resetAfterRequest(port: number, count: number, head: string): Promise<void> {
  for (let sent = 0; sent < count; sent += AT_A_TIME) {
    const batch = Math.min(AT_A_TIME, count - sent);
    await Promise.all(Array.from({ length: batch }, () => sendAndReset(port, head)));
  }
}

async function sendAndReset(port: number, head: string): Promise<void> {
  const connection = connectPlain(port, '127.0.0.1').on('error', () => {});
  const secure = connect({ socket: connection, rejectUnauthorized: false }).on('error', () => {});
  secure.once('secureConnect', () => {
    secure.write(`${head}\r\n\r\n`);
    connection.resetAndDestroy();
  });
  await once(connection, 'close');
  secure.destroy();
}

/**
 * Resolves after the server has tried to write the session tickets, and before it reads the end of the connection. A
 * response sent at this time leaves the connection open unless something else closes it (docs/node-tls-reset.md).
 */
export const afterReset = (): Promise<object> => setImmediate({});

/**
 * Returns the number of sockets that this process has open, including those that the kernel no longer lists as
 * connections.
 */
export const openSockets = (): number => readdirSync('/proc/self/fd').filter(isSocket).length;

function isSocket(name: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${name}`).startsWith('socket:');
  } catch {
    // The descriptor of the directory listing itself is closed by now.
    return false;
  }
}
