/** Prefix of the names that Node.js gives to pending file system calls. */
const FILE_REQUEST = 'FSReq';

/**
 * Terminates the process. On exit, Node.js waits for the threads of its file system calls, forever if one hangs.
 * Therefore, while a call is in progress, the process is replaced with a shell that exits with the code, because exec
 * ends all threads.
 */
export function exitNow(code: string | number = 0): void {
  if (process.getActiveResourcesInfo().some((name) => name.startsWith(FILE_REQUEST))) {
    // Run the exit handlers, which restore the terminal.
    process.emit('exit', Number(code));
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${Number(code)}`], {});
  }
  process.exit(code);
}
