/** The command lines of `logs` and `delete`. */
import type { Command } from 'commander';
import type { DeleteOptions } from '../run/delete.ts';
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
      "the agent's root directory (default: that of run, then that of up, then the only agent of the host)",
    )
    .option('--state-dir <directory>', 'the state directory of "statelet up" (default: $STATELET_STATE_DIR)');

export function addPodCommands(program: Command, commands: PodCommands): void {
  addLogsCommand(program, commands);
  socketOptions(
    program
      .command('delete')
      .description('say which manifest to remove to end a static pod; nothing is deleted, the exit code is 1'),
  )
    .argument('<what...>', 'pod/NAME (full name, name in the manifest, or UID)')
    .option('-n, --namespace <namespace>', 'the namespace of the pod (default: any)')
    .action((words: string[], options: DeleteOptions) => commands.delete(words, options));
}

function addLogsCommand(program: Command, commands: PodCommands): void {
  const command = socketOptions(
    program.command('logs').description('print the logs of a container, those set aside by log rotation included'),
  )
    .argument('<pod>', 'pod/NAME or NAME (full name, name in the manifest, or UID)')
    .argument('[container]', 'the container, as with --container')
    .option('-n, --namespace <namespace>', 'the namespace of the pod (default: any)')
    .option(
      '-c, --container <name>',
      'the container (default: that of the annotation kubectl.kubernetes.io/default-container, else the first)',
    )
    .option('--all-containers', 'the logs of all containers of the pod')
    .option('--prefix', 'begin each line with the names of pod and container')
    .option('-f, --follow', 'go on with what is written, until the container has ended')
    .option('-p, --previous', 'the logs of the run before the present one');
  addSelections(command).action((pod: string, container: string | undefined, options: LogsOptions) =>
    commands.logs(container === undefined ? [pod] : [pod, container], options),
  );
}

const addSelections = (command: Command): Command =>
  command
    .option(
      '--tail <lines>',
      'only the last lines, counted over the files that log rotation has set aside too; -1: all (default: -1)',
    )
    .option('--since <duration>', 'only what was written within a duration such as 5s, 2m or 3h (default: all)')
    .option('--since-time <time>', 'only what was written since a time (RFC 3339) (default: all)')
    .option('--limit-bytes <number>', 'print so many bytes at most; 0: no limit (default: 0)')
    .option('--timestamps', 'begin each line with the time at which it was written');
