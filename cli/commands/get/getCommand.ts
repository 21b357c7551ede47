/** The command line of `statelet get`, which dispatches by kind of resource. */
import { type Command, Option } from 'commander';
import { ConfigError } from '../../../node/config/configError.ts';
import { FORMATS, FORMATS_WITH_ARGUMENT } from '../../output/format/formats.ts';
import { socketOptions } from '../stream/podCommands.ts';
import type { GetOptions } from './get.ts';
import type { GetActorsOptions } from './getActors.ts';
import type { GetEventsOptions } from './getEvents.ts';
import type { GetNodesOptions } from './getNodes.ts';
import { KINDS, parseResource, type ResourceKind } from './resource.ts';

/** Implementations of `get` for the kinds of resources. */
export interface GetCommands {
  get(options: GetOptions): Promise<void>;
  getActors(filter: string[], options: GetActorsOptions): Promise<void>;
  getEvents(options: GetEventsOptions): Promise<void>;
  getNodes(options: GetNodesOptions): Promise<void>;
}

type AllOptions = GetEventsOptions & GetActorsOptions;

/**
 * Creates the option `--output`. Its choices are for help and completion only, because `readFormat` rejects an invalid
 * value with a better message.
 */
export function outputOption(): Option {
  const option = new Option('-o, --output <format>', 'output format');
  option.choices([...FORMATS, ...FORMATS_WITH_ARGUMENT]).argParser(String);
  return option;
}

/** Rejects flags that have no effect for the given kind. */
function rejectUnsupportedFlags(kind: ResourceKind, options: AllOptions): void {
  const flags = [
    ['for', 'events', options.for],
    ['types', 'events', options.types],
    ['filter', 'actors', options.filter],
  ] as const;
  if (kind === 'actors' && (options.selector ?? options.fieldSelector) !== undefined) {
    throw new ConfigError('--selector, --field-selector: actors are not Kubernetes objects: use a filter');
  }
  for (const [flag, supportedKind, value] of flags) {
    if (value !== undefined && kind !== supportedKind)
      throw new ConfigError(`--${flag}: supported only for ${supportedKind}`);
  }
}

export function addGetCommand(program: Command, commands: GetCommands): void {
  socketOptions(
    program
      .command('get')
      .description('list the pods, the node, the events of the last hour, or the actors of the running agent'),
  )
    .argument('<resource>', 'pods (po), nodes (no), events (ev) or actors; also pods/NAME')
    .argument(
      '[name...]',
      'name of the object; for a pod, its full name, its name in the manifest, or its UID; for actors, words of a filter',
    )
    .option('-n, --namespace <namespace>', 'list only objects in this namespace (default: all namespaces)')
    .option('-A, --all-namespaces', 'list objects in all namespaces, with a NAMESPACE column')
    .addOption(outputOption())
    .option('--no-headers', 'do not print headers')
    .option('-l, --selector <labels>', 'label selector: app=web, app!=web, "app in (a,b)", app, !app')
    .option('--field-selector <fields>', 'field selector: status.phase=Running, metadata.name!=web, …')
    .option('-w, --watch', 'after listing the objects, watch for changes; actors are polled once per second')
    .option('--for <pod>', 'list only events about pod/NAME')
    .option('--types <types>', 'list only events of these types: Normal, Warning')
    .option(
      '--filter <words>',
      'list only actors that match all words: state:X ns:X kind:X is:retrying "waits>30s" "changed<1m", or any text',
    )
    .action((resource: string, nameArguments: string[], options: AllOptions) =>
      runGet(commands, resource, nameArguments, options),
    );
}

function runGet(commands: GetCommands, resource: string, nameArguments: string[], options: AllOptions): Promise<void> {
  const isActors = KINDS.actors.some((each) => each === resource.split('/')[0]);
  const args = isActors ? [resource] : [resource, ...nameArguments];
  const { kind, ...name } = parseResource(args, ['pods', 'nodes', 'events', 'actors']);
  rejectUnsupportedFlags(kind, options);
  if (isActors && 'name' in name) throw new ConfigError(`${resource}: expected actors and a filter`);
  if (isActors) return commands.getActors(nameArguments, options);
  const namedOptions = { ...options, ...name };
  if (kind === 'events') return commands.getEvents(namedOptions);
  if (kind === 'nodes' && options.watch) throw new ConfigError('--watch: nodes cannot be watched');
  return kind === 'nodes' ? commands.getNodes(namedOptions) : commands.get(namedOptions);
}
