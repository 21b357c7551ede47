/** The command lines of `logs` and `delete`. */
import type { Command } from 'commander';
import type { DeleteOptions } from '../run/deletePod.ts';
import type { LogsOptions } from './logsRequest.ts';

export interface PodCommands {
  logs(words: string[], options: LogsOptions): Promise<void>;
  delete(words: string[], options: DeleteOptions): Promise<void>;
}

/** Adds the options that select a running agent. */
export const socketOptions = (command: Command): Command =>
  command
    .option(
      '--root-dir <directory>',
      'root directory of the agent (default: that of run, else that of up, else that of the only agent on the host)',
    )
    .option('--state-dir <directory>', 'state directory of "statelet up" (default: $STATELET_STATE_DIR)');

export function addPodCommands(program: Command, commands: PodCommands): void {
  addLogsCommand(program, commands);
  socketOptions(
    program
      .command('delete')
      .description('print which manifest to remove in order to delete a static pod; deletes nothing and exits with 1'),
  )
    .argument('<what...>', 'pod/NAME (full name, name in the manifest, or UID)')
    .option('-n, --namespace <namespace>', 'namespace of the pod (default: any)')
    .action((words: string[], options: DeleteOptions) => commands.delete(words, options));
}

function addLogsCommand(program: Command, commands: PodCommands): void {
  const command = socketOptions(
    program.command('logs').description('print the logs of a container, including rotated files'),
  )
    .argument('<pod>', 'pod/NAME or NAME (full name, name in the manifest, or UID)')
    .argument('[container]', 'name of the container, like --container')
    .option('-n, --namespace <namespace>', 'namespace of the pod (default: any)')
    .option(
      '-c, --container <name>',
      'name of the container (default: that in the annotation kubectl.kubernetes.io/default-container, or the first one)',
    )
    .option('--all-containers', 'print the logs of all containers of the pod')
    .option('--prefix', 'prefix each log line with the names of the pod and the container')
    .option('-f, --follow', 'stream the log until the container terminates')
    .option('-p, --previous', 'print the log of the previous instance of the container');
  addSelections(command).action((pod: string, container: string | undefined, options: LogsOptions) =>
    commands.logs(container === undefined ? [pod] : [pod, container], options),
  );
}

const addSelections = (command: Command): Command =>
  command
    .option(
      '--tail <lines>',
      'number of recent log lines to print, including rotated files; -1 prints all lines (default: -1)',
    )
    .option(
      '--since <duration>',
      'print only logs newer than a relative duration such as 5s, 2m or 3h (default: all logs)',
    )
    .option('--since-time <time>', 'print only logs after a timestamp (RFC 3339) (default: all logs)')
    .option('--limit-bytes <number>', 'maximum number of bytes to print; 0 means no limit (default: 0)')
    .option('--timestamps', 'include timestamps on each line');
