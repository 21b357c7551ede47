import { lstat, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { NodeFailure } from '../base/failure.ts';

/** Maximum length of a unix socket's path, in bytes, without the terminating null byte. */
const MAX_PATH_BYTES = 107;

const SOCKET_NAME = 'statelet.sock';

export function socketPath(rootDirectory: string): string {
  return join(rootDirectory, SOCKET_NAME);
}

/** Flag of a listening socket in /proc/net/unix (`__SO_ACCEPTCON`). */
const LISTENING_FLAG = 0x10000;

/**
 * Returns the paths of the sockets on which agents of this host listen, as listed in /proc/net/unix. Returns no paths
 * on hosts without that file. Omits sockets of users other than root and the current user, because a command trusts the
 * agent to which it connects.
 */
export async function findListeningAgents(): Promise<string[]> {
  const socketTable = await readFile('/proc/net/unix', 'utf8').catch(() => '');
  const paths = new Set<string>();
  for (const line of socketTable.split('\n')) {
    const [, flags, path] = /^\S+ \S+ \S+ ([0-9A-Fa-f]+) \S+ \S+ +\S+ (\/.*)$/.exec(line) ?? [];
    if (path === undefined || basename(path) !== SOCKET_NAME) continue;
    if ((Number.parseInt(flags ?? '', 16) & LISTENING_FLAG) !== 0) paths.add(path);
  }
  const trustResults = await Promise.all([...paths].map(isTrustedSocket));
  return [...paths].filter((_, index) => trustResults[index]).sort();
}

async function isTrustedSocket(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isSocket() === true && (stats.uid === 0 || stats.uid === process.getuid?.());
}

/**
 * Throws if the path is too long for the kernel. Should be called early, so that the user gets the error before
 * anything starts.
 */
export function checkSocketPath(path: string): void {
  const pathBytes = Buffer.byteLength(path);
  if (pathBytes <= MAX_PATH_BYTES) return;
  const message = `the socket path ${path} has ${pathBytes} bytes, but the limit for a unix socket is ${MAX_PATH_BYTES}: use a shorter root directory`;
  throw new NodeFailure('SocketPathTooLong', message);
}

/**
 * Whether a process accepts connections on the socket. Rejects with errors such as EACCES, which do not reveal whether
 * a process listens.
 */
export function isListening(path: string): Promise<boolean> {
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

/** Removes a socket that no process listens on. Leaves other files in place. */
export async function removeStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isSocket() && !(await isListening(path))) await rm(path, { force: true });
}
