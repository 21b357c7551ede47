import { Argument, Command, Option } from 'commander';
import { printableText } from '../base/text/printable.ts';
import { lookUp } from '../base/values/lookUp.ts';
import { ConfigError } from '../node/config/configError.ts';
import { formatSuggestion } from '../node/config/fields/fields.ts';
import { readFlags } from '../node/config/flags.ts';
import type { Flags } from '../node/config/settings/allSettings.ts';
import { packageVersion } from '../node/host/paths.ts';
import { SHELLS, type Shell } from './commands/completionScripts.ts';
import type { DescribeOptions } from './commands/get/describe.ts';
import type { ExplainOptions } from './commands/get/explain.ts';
import { addGetCommand, type GetCommands } from './commands/get/getCommand.ts';
import { addImageCommand, type ImageCommands } from './commands/image/imageCommand.ts';
import type { ChartsOptions } from './commands/record/charts.ts';
import type { RecordDumpOptions } from './commands/record/dumpRecording.ts';
import type { InspectOptions } from './commands/record/inspectRecording.ts';
import type { ReplayOptions } from './commands/record/replay.ts';
import type { DownOptions } from './commands/run/down.ts';
import { addNodeCommand } from './commands/run/nodeCommand.ts';
import { addPodCommands, type PodCommands, socketOptions } from './commands/stream/podCommands.ts';
import { addStreamCommands, type StreamCommands } from './commands/stream/streamCommands.ts';
import { addTopCommand, type TopCommands } from './commands/top/topCommand.ts';
import type { VersionOptions } from './commands/version.ts';

/** Implementations of the commands. Each one loads its modules when it runs, so that `get` and `explain` start fast. */
export interface Commands extends GetCommands, PodCommands, StreamCommands, TopCommands, ImageCommands {
  run(flags: Flags): Promise<void>;
  up(flags: Flags): Promise<void>;
  down(options: DownOptions): Promise<void>;
  describe(words: string[], options: DescribeOptions): Promise<void>;
  explain(words: string[], options: ExplainOptions): Promise<void>;
  replay(file: string, options: ReplayOptions): Promise<void>;
  inspect(file: string, options: InspectOptions): Promise<void>;
  recordDump(file: string, options: RecordDumpOptions): Promise<void>;
  charts(options: ChartsOptions): Promise<void>;
  version(options: VersionOptions): Promise<void>;
  completion(shell: Shell): Promise<void>;
  complete(program: Command, words: readonly string[]): Promise<void>;
}

/**
 * Returns commander's message as one line, e.g. "statelet: unknown option '--max-pod'; did you mean --max-pods?". Omits
 * the value of an unknown option, because it may be secret.
 */
function toSingleLine(message: string): string {
  return message
    .replace(/^error: /, 'statelet: ')
    .replace(/(unknown option '[^=]*)=[\s\S]*'/, "$1'")
    .replace(SUGGESTION_PATTERN, (_, kind: string, word: string, names: string) => {
      return `unknown ${kind} '${word}'${formatSuggestion(word, names.split(', '))}\n`;
    });
}

/**
 * Matches commander's suggestions, which are replaced because they include words that have little in common with the
 * unknown one.
 */
const SUGGESTION_PATTERN = /unknown (command|option) '([^']*)'\n\(Did you mean (?:one of )?(.*)\?\)\n/;

/** Returns the values of the flags, keyed by their names on the command line. */
function explicitFlags(command: Command): Record<string, string | boolean | undefined> {
  const flagValues = command.opts<Record<string, string | boolean | undefined>>();
  return Object.fromEntries(
    command.options.map((option) => [option.long ?? option.name(), lookUp(flagValues, option.attributeName())]),
  );
}

function addNodeCommands(program: Command, commands: Commands): void {
  addNodeCommand(program, 'run', 'run the node agent; its pods keep running when it stops').action(
    (_, command: Command) => commands.run(readFlags(explicitFlags(command))),
  );
  addNodeCommand(
    program,
    'up',
    'run a self-contained node until Ctrl-C: a private containerd, the agent and a live table',
  ).action((_, command: Command) => commands.up(readFlags(explicitFlags(command))));
  program
    .command('down')
    .description('stop the node that "statelet up" started, and clean up after it if its agent was killed')
    .option(
      '--now',
      'like kubectl delete --now: terminate every pod with a grace period of 1 s, and stop a running agent immediately (default: the grace period of each pod)',
    )
    .option(
      '--state-dir <directory>',
      'the --state-dir of that "statelet up" (default: $STATELET_STATE_DIR, or /var/lib/statelet)',
    )
    .option('--root-dir <directory>', 'the --root-dir of that "statelet up", if it was set')
    .option('--pod-log-dir <directory>', 'the --pod-log-dir of that "statelet up", if it was set')
    .action((options: DownOptions) => commands.down(options));
}

function addRecordingCommands(program: Command, commands: Commands): void {
  const recordCommand = program.command('record').description('work with the recordings of an agent');
  socketOptions(
    recordCommand.command('dump').description('write the recording of an agent, running or not, to a new file'),
  )
    .argument('<file>', 'file to write')
    .action((file: string, options: RecordDumpOptions) => commands.recordDump(file, options));
  program
    .command('replay')
    .description('replay a recording without a runtime, and print the pods at a point in time')
    .argument('<file>', 'file written by "statelet record dump", or the recording directory of an agent')
    .option(
      '--until <time>',
      'point in time to show: a timestamp (RFC 3339), a duration after the start such as 90s, or a duration before the end such as -90s (default: the end)',
    )
    .option('--explain <what>', 'explain why pod/NAME or the node was in its state at that time')
    .option('-c, --container <name>', 'with --explain: explain only this container of the pod')
    .option('--volume <name>', 'with --explain: explain only this volume of the pod')
    .option('-n, --namespace <namespace>', 'list only pods in this namespace (default: all namespaces)')
    .option(
      '--open',
      'serve the recording as a page that shows this point in time, and open it in a browser; stop with Ctrl-C',
    )
    .option(
      '--story',
      'print everything that happened, one change per line; also works with recordings of other versions',
    )
    .option(
      '--check',
      'compare every state and status of the replay with the recording, and exit with 1 if any differs',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action((file: string, options: ReplayOptions) => commands.replay(file, options));
  program
    .command('inspect')
    .description('serve the inspection page for a recording, which shows the state of every pod at any point in time')
    .argument('<file>', 'file written by "statelet record dump", or the recording directory of an agent')
    .option(
      '--address <address>',
      'address of the page, as host:port; append ?open to allow access without a token (default: any free port of 127.0.0.1)',
    )
    .action((file: string, options: InspectOptions) => commands.inspect(file, options));
}

function addQueryCommands(program: Command, commands: Commands): void {
  addGetCommand(program, commands);
  socketOptions(program.command('describe').description('show the details and events of a pod or the node'))
    .argument('<what...>', 'pod/NAME (full name, name in the manifest, or UID), or node')
    .option('-n, --namespace <namespace>', 'namespace of the pod (default: any)')
    .action((words: string[], options: DescribeOptions) => commands.describe(words, options));
  socketOptions(program.command('explain').description('explain why a pod or the node is in its current state'))
    .argument('<what...>', 'pod/NAME (full name, name in the manifest, or UID), or node')
    .option('-n, --namespace <namespace>', 'namespace of the pod (default: any)')
    .option('-c, --container <name>', 'explain this container of the pod, with the last lines of its log')
    .option('--volume <name>', 'explain this volume of the pod')
    .option(
      '--if <signal=quantity>',
      'name the pods that the node would evict in a shortage, e.g. memory.available=50Mi',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json']))
    .action((words: string[], options: ExplainOptions) => commands.explain(words, options));
  addTopCommand(program, commands);
  socketOptions(program.command('version').description('show the version of this command and of the running agent'))
    .option('--client', 'print only the version of this command')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action((options: VersionOptions) => commands.version(options));
  program
    .command('charts')
    .description('print the state chart of each machine, as Mermaid or as JSON')
    .argument('[name]', 'print only the machine with this name')
    .option('-o, --output <directory>', 'write one file per machine to this directory instead')
    .addOption(
      new Option('--format <format>', 'output format; Stately Studio and XState can import json')
        .choices(['mermaid', 'json'])
        .default('mermaid'),
    )
    .option('--open', 'open a page with all charts in a browser instead, which explains each state and its rule')
    .action((name: string | undefined, options: ChartsOptions) =>
      commands.charts({ ...options, ...(name && { name }) }),
    );
}

const KUBECTL_HINT = 'in a cluster, use kubectl';

/** Advice on commands that users know from kubectl and service managers, by command name. */
const ADVICE = [
  [
    'apply create edit patch replace rollout scale set',
    `an agent runs the manifests of a directory: copy the file to that of --pod-manifest-path; ${KUBECTL_HINT}`,
  ],
  ['label annotate', `an agent takes metadata from manifests: edit that of the pod; ${KUBECTL_HINT}`],
  [
    'port-forward proxy expose',
    `a pod has an address on its node, which "statelet get pods -o wide" shows; ${KUBECTL_HINT}`,
  ],
  ['cp', 'use "statelet exec POD -- cat FILE" to read a file, and "statelet exec -i POD -- tee FILE" to write one'],
  ['debug', `use "statelet explain pod/NAME", and "statelet exec" for a shell; for a debug container, ${KUBECTL_HINT}`],
  ['wait', 'use "statelet get pods --watch", or "statelet explain pod/NAME" for what a pod waits for'],
  ['cordon uncordon drain taint', `an agent does not schedule pods: remove their manifests; ${KUBECTL_HINT}`],
  ['config', 'the settings of an agent are its flags and the file of --config; "statelet help run" shows the flags'],
  ['api-resources api-versions', 'an agent knows pods, nodes, events and actors: use "statelet get"'],
  ['auth', `the API server decides who may do what; ${KUBECTL_HINT}`],
  ['cluster-info', 'use "statelet get nodes", or "statelet explain node"'],
  ['start', 'use "statelet up" for a node of its own, or "statelet run" for the agent of a host'],
  ['stop', 'use "statelet down" for the node of "statelet up"; the agent of a host is stopped by its service manager'],
] as const;

/**
 * Adds hidden commands that users may expect but that this program does not implement. Each one fails with advice on
 * how to get the same result.
 */
function addHints(program: Command): void {
  for (const [names, advice] of ADVICE) {
    for (const name of names.split(' ')) {
      program
        .command(name, { hidden: true })
        .argument('[words...]')
        .allowUnknownOption()
        .action(() => {
          throw new ConfigError(`${name}: ${advice}`);
        });
    }
  }
}

function addCompletionCommands(program: Command, commands: Commands): void {
  program
    .command('completion')
    .description('print a shell completion script for the shell to source')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: Shell) => commands.completion(shell));
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[]) => commands.complete(program, words));
}

const EXAMPLES = `
Examples:
  statelet up                               the example pods, on a private containerd
  statelet up --pod-manifest-path ./pods    your own pods
  statelet down                             stop that node, even if its agent was killed
  statelet run --config kubelet.yaml        the agent as a daemon, on the host's containerd
  statelet get pods --watch                 the pods of the running agent, as they change
  statelet explain pod/web                  why a pod is in its current state
  statelet top                              all actors of the running agent, live
  statelet top pods                         the CPU and memory usage of the pods
  statelet describe pod web                 the details and events of a pod, like kubectl
  statelet exec -it pod/web -- sh           a shell in the container of a pod
  statelet get events --for pod/web         the events of a pod
  statelet logs -f pod/web                  the log of a pod, as it grows
  statelet image import web.tar             an image from a file, for pods on this node

"statelet help run" shows the flags of a command.
`;

/**
 * Creates the command line. It prints help, or one message per error with suggestions for typos, and then throws
 * commander's error.
 */
export function createProgram(commands: Commands): Command {
  const program = new Command('statelet')
    .description('A Kubernetes node agent that you can see through.')
    .version(packageVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({ outputError: (message, write) => write(printableText(toSingleLine(message))) });
  addNodeCommands(program, commands);
  addQueryCommands(program, commands);
  addStreamCommands(program, commands);
  addImageCommand(program, commands);
  addPodCommands(program, commands);
  addRecordingCommands(program, commands);
  addCompletionCommands(program, commands);
  addHints(program);
  program.addHelpText('after', EXAMPLES);
  return program;
}
