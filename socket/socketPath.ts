import { lstat, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { NodeFailure } from '../base/failure.ts';

/** What the kernel allows for the path of a unix socket, in bytes, without the closing zero. */
const PATH_LIMIT = 107;

const SOCKET_NAME = 'statelet.sock';

/** Where the agent with this root directory listens. */
export function socketPath(rootDirectory: string): string {
  return join(rootDirectory, SOCKET_NAME);
}

/** Flag of a listening socket in /proc/net/unix (`__SO_ACCEPTCON`). */
const LISTENING = 0x10000;

/**
 * Returns the sockets at which agents of this host listen, from the kernel's table; none on hosts without that table.
 * Sockets of users other than root and the current user are left out, because a command trusts the agent that it talks to.
 */
export async function listeningAgents(): Promise<string[]> {
  const table = await readFile('/proc/net/unix', 'utf8').catch(() => '');
  const paths = new Set<string>();
  for (const line of table.split('\n')) {
    const [, flags, path] = /^\S+ \S+ \S+ ([0-9A-Fa-f]+) \S+ \S+ +\S+ (\/.*)$/.exec(line) ?? [];
    if (path === undefined || basename(path) !== SOCKET_NAME) continue;
    if ((Number.parseInt(flags ?? '', 16) & LISTENING) !== 0) paths.add(path);
  }
  const trusted = await Promise.all([...paths].map(isTrustedSocket));
  return [...paths].filter((_, index) => trusted[index]).sort();
}

async function isTrustedSocket(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isSocket() === true && (stats.uid === 0 || stats.uid === process.getuid?.());
}

/** Throws when the kernel would not take the path, so that the user is told before anything is started. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= PATH_LIMIT) return;
  const message = `the socket path ${path} has ${bytes} bytes, but the limit for a unix socket is ${PATH_LIMIT}: use a shorter root directory`;
  throw new NodeFailure('SocketPathTooLong', message);
}

/** Whether somebody accepts connections there; an error other than "nobody" is thrown. */
export function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'ENOTDIR') resolve(false);
      else reject(error);
    });
  });
}

/** Removes the socket of an agent that is gone; anything else that lies there stays. */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() && !(await isAnswering(path))) await rm(path, { force: true });
}
