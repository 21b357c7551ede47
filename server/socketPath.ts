import { lstat, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { NodeFailure } from '../pod/failure.ts';

/** What the kernel allows for the path of a unix socket, in bytes, without the closing zero. */
const PATH_LIMIT = 107;

/** Where the agent with this root directory listens. */
export function socketPath(rootDirectory: string): string {
  return join(rootDirectory, 'statelet.sock');
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
