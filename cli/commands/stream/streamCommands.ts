/** The command lines of `exec` and `attach`. */
import type { Command } from 'commander';
import { ConfigError } from '../../../node/config/configError.ts';
import type { AttachOptions, ExecOptions } from './exec.ts';
import { socketOptions } from './podCommands.ts';

export interface StreamCommands {
  exec(words: string[], command: string[], options: ExecOptions): Promise<void>;
  attach(words: string[], options: AttachOptions): Promise<void>;
}

const streamOptions = (command: Command): Command =>
  socketOptions(command)
    .option('-n, --namespace <namespace>', 'namespace of the pod (default: any)')
    .option(
      '-c, --container <name>',
      'name of the container (default: that in the annotation kubectl.kubernetes.io/default-container, or the first one)',
    )
    .option('-i, --stdin', 'pass standard input to the container')
    .option('-t, --tty', 'standard input is a terminal')
    .option('-q, --quiet', 'print only the output of the container');

export function addStreamCommands(program: Command, commands: StreamCommands): void {
  streamOptions(
    program.command('exec').description('run a command in a container, and exit with the exit code of that command'),
  )
    .usage('[options] pod/NAME -- COMMAND [args...]')
    .argument(
      '<pod...>',
      'pod/NAME (full name, name in the manifest, or UID), followed by -- and the command with its arguments',
    )
    .action((args: string[], options: ExecOptions) => {
      const { words, command } = splitAtDashes(args, program);
      return commands.exec(words, command, options);
    });
  streamOptions(program.command('attach').description('attach to the process of a running container'))
    .argument('<pod...>', 'pod/NAME (full name, name in the manifest, or UID)')
    .action((words: string[], options: AttachOptions) => commands.attach(words, options));
}

/** Splits the arguments at `--`, because commander joins both parts. */
function splitAtDashes(args: readonly string[], { rawArgs }: Command & { rawArgs?: readonly string[] }) {
  const dashesIndex = rawArgs?.indexOf('--') ?? -1;
  const command = dashesIndex < 0 ? [] : (rawArgs?.slice(dashesIndex + 1) ?? []);
  const targetArgs = args.slice(0, args.length - command.length);
  if (dashesIndex < 0 && targetArgs.length > 1)
    throw new ConfigError('exec POD COMMAND is not supported: use exec POD -- COMMAND instead');
  if (targetArgs.length === 0) throw new ConfigError('which pod? expected pod/NAME before --');
  if (command.length === 0) throw new ConfigError('you must specify at least one command for the container');
  return { words: targetArgs, command };
}
