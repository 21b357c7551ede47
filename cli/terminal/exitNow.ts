/** Prefix of the names that Node.js gives to pending file system calls. */
const FILE_REQUEST = 'FSReq';

/**
 * Terminates the process. On exit, Node.js waits for the threads that run its file system calls, so a call that hangs
 * would block the exit forever. If a call is in progress, the process is therefore replaced by a shell that exits with
 * the code, because exec terminates all other threads.
 */
export function exitNow(code: string | number = 0): void {
  if (process.getActiveResourcesInfo().some((name) => name.startsWith(FILE_REQUEST))) {
    // Run the exit handlers, which restore the terminal.
    process.emit('exit', Number(code));
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${Number(code)}`], {});
  }
  process.exit(code);
}
