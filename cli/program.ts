import { Argument, Command, Option } from 'commander';
import { lookUp } from '../base/lookUp.ts';
import { printableText } from '../base/printable.ts';
import { ConfigError } from '../node/config/configError.ts';
import { formatSuggestion } from '../node/config/fields.ts';
import { readFlags } from '../node/config/flags.ts';
import type { Flags } from '../node/config/settings/allSettings.ts';
import { packageVersion } from '../node/host/paths.ts';
import { SHELLS, type Shell } from './commands/completionScripts.ts';
import type { DescribeOptions } from './commands/get/describe.ts';
import type { ExplainOptions } from './commands/get/explain.ts';
import { addGetCommand, type GetCommands } from './commands/get/getCommand.ts';
import { addImageCommand, type ImageCommands } from './commands/image/imageCommand.ts';
import type { ChartsOptions } from './commands/record/charts.ts';
import type { InspectOptions } from './commands/record/inspect.ts';
import type { RecordDumpOptions } from './commands/record/record.ts';
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
      'as kubectl delete --now: a grace period of 1 s for every pod; a running agent stops at once (default: each pod has its own grace period)',
    )
    .option(
      '--state-dir <directory>',
      'the --state-dir of that "statelet up" (default: $STATELET_STATE_DIR, or /var/lib/statelet)',
    )
    .option('--root-dir <directory>', 'the --root-dir of that "statelet up", if it had one')
    .option('--pod-log-dir <directory>', 'the --pod-log-dir of that "statelet up", if it had one')
    .action((options: DownOptions) => commands.down(options));
}

function addRecordingCommands(program: Command, commands: Commands): void {
  const recordCommand = program.command('record').description('what the agent has recorded of itself');
  socketOptions(
    recordCommand.command('dump').description('write the recording of an agent, running or not, to a new file'),
  )
    .argument('<file>', 'the file to write')
    .action((file: string, options: RecordDumpOptions) => commands.recordDump(file, options));
  program
    .command('replay')
    .description('play a recording again, without a runtime: show the pods as they were')
    .argument('<file>', 'a file that "statelet record dump" wrote, or the directory that an agent records in')
    .option(
      '--until <time>',
      'the moment to show: a time (RFC 3339), a duration from the beginning such as 90s, or before the end such as -90s (default: the end)',
    )
    .option('--explain <what>', 'explain why pod/NAME, or node, was in its state then')
    .option('-c, --container <name>', 'with --explain: this container of the pod')
    .option('--volume <name>', 'with --explain: this volume of the pod')
    .option('-n, --namespace <namespace>', 'only pods in this namespace (default: all)')
    .option('--open', 'show it as a page, at that moment; serves it on this host until Ctrl-C')
    .option('--story', 'print all that happened, a line each; works with recordings of other versions, too')
    .option(
      '--check',
      'compare every state and status of the replay with what was recorded; exit with 1 if one differs',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action((file: string, options: ReplayOptions) => commands.replay(file, options));
  program
    .command('inspect')
    .description('serve the page over a recording: what every pod was doing at any moment of it')
    .argument('<file>', 'a file that "statelet record dump" wrote, or the directory that an agent records in')
    .option(
      '--address <address>',
      'address of the page, as host:port; with ?open it needs no token (default: any port of 127.0.0.1)',
    )
    .action((file: string, options: InspectOptions) => commands.inspect(file, options));
}

function addQueryCommands(program: Command, commands: Commands): void {
  addGetCommand(program, commands);
  socketOptions(program.command('describe').description('show the details of a pod or the node, with its events'))
    .argument('<what...>', 'pod/NAME (full name, name in the manifest, or UID), or node')
    .option('-n, --namespace <namespace>', 'the namespace of the pod (default: any)')
    .action((words: string[], options: DescribeOptions) => commands.describe(words, options));
  socketOptions(program.command('explain').description('explain why a pod or the node is in its current state'))
    .argument('<what...>', 'pod/NAME (full name, name in the manifest, or UID), or node')
    .option('-n, --namespace <namespace>', 'the namespace of the pod (default: any)')
    .option('-c, --container <name>', 'explain this container of the pod, with the end of its log')
    .option('--volume <name>', 'explain this volume of the pod')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json']))
    .action((words: string[], options: ExplainOptions) => commands.explain(words, options));
  addTopCommand(program, commands);
  socketOptions(program.command('version').description('show the version of this command and of the running agent'))
    .option('--client', 'only the version of this command')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']))
    .action((options: VersionOptions) => commands.version(options));
  program
    .command('charts')
    .description('print the state chart of each machine, as Mermaid or as JSON')
    .argument('[name]', 'only the machine of this name')
    .option('-o, --output <directory>', 'write one file per machine to this directory instead')
    .addOption(
      new Option('--format <format>', 'json: definitions that Stately Studio and XState import')
        .choices(['mermaid', 'json'])
        .default('mermaid'),
    )
    .option('--open', 'open the page of all charts in a browser instead: what each state means, and the rule behind it')
    .action((name: string | undefined, given: ChartsOptions) => commands.charts({ ...given, ...(name && { name }) }));
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
 * Adds hidden commands that this program does not support. Each one fails with advice on how to get the same result.
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
    .description('print a shell completion script, to be sourced by the shell')
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
  statelet top pods                         the CPU and memory that the pods use
  statelet describe pod web                 the details of a pod, as kubectl shows them
  statelet exec -it pod/web -- sh           a shell in its container
  statelet get events --for pod/web         what happened to it
  statelet logs -f pod/web                  what it writes
  statelet image import web.tar             give its runtime an image from a file

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
