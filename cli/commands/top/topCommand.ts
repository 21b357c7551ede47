/**
 * The command line of `top`, which shows the agent's actors or, like `kubectl top`, the resource usage of pods or
 * nodes.
 */
import { type Command, Option } from 'commander';
import { ConfigError } from '../../../node/config/configError.ts';
import { SORT_FIELDS } from '../../../show/tables/usageTable.ts';
import { KINDS, parseResource } from '../get/resource.ts';
import { socketOptions } from '../stream/podCommands.ts';
import type { TopOptions } from './top.ts';
import type { TopUsageOptions } from './topUsage.ts';

export interface TopCommands {
  top(words: string[], options: TopOptions): Promise<void>;
  topPods(options: TopUsageOptions): Promise<void>;
  topNodes(options: TopUsageOptions): Promise<void>;
}

export function addTopCommand(program: Command, commands: TopCommands): void {
  socketOptions(
    program
      .command('top')
      .description(
        'show all actors of the running agent in a live view, or print them once without a terminal; "top pods" and "top nodes" print CPU and memory usage',
      ),
  )
    .argument('[filter...]', 'words of a filter like that of "get actors", or pods [NAME], or nodes [NAME]')
    .option('-n, --namespace <namespace>', 'show only pods in this namespace (default: all namespaces)')
    .option('-A, --all-namespaces', 'with pods: list pods in all namespaces, with a NAMESPACE column')
    .option('--containers', 'with pods: print the usage of each container')
    .addOption(new Option('--sort-by <field>', 'with pods or nodes: sort by usage, highest first').choices(SORT_FIELDS))
    .option('--no-headers', 'with pods or nodes: do not print headers')
    .option('-l, --selector <labels>', 'with pods or nodes: label selector, like that of "get"')
    .option('--field-selector <fields>', 'with pods or nodes: field selector, like that of "get"')
    .action((words: string[], options: TopUsageOptions) => runTop(commands, words, options));
}

function runTop(commands: TopCommands, args: string[], options: TopUsageOptions): Promise<void> {
  const [word] = args[0]?.split('/') ?? [];
  const isUsageKind = [...KINDS.pods, ...KINDS.nodes].some((name) => name === word);
  const { kind, name } = isUsageKind ? parseResource(args, ['pods', 'nodes']) : {};
  rejectUnsupportedFlags(kind, options);
  if (kind === undefined) {
    const { namespace, rootDir, stateDir } = options;
    return commands.top(args, {
      ...(namespace === undefined ? {} : { namespace }),
      ...(rootDir === undefined ? {} : { rootDir }),
      ...(stateDir === undefined ? {} : { stateDir }),
    });
  }
  const namedOptions = name === undefined ? options : { ...options, name };
  return kind === 'pods' ? commands.topPods(namedOptions) : commands.topNodes(namedOptions);
}

/** Rejects flags that have no effect, because a user who sets one would misread the table. */
function rejectUnsupportedFlags(kind: string | undefined, options: TopUsageOptions): void {
  const { containers, allNamespaces, namespace, sortBy, headers, selector, fieldSelector } = options;
  if (kind === 'nodes' && namespace !== undefined) throw new ConfigError('--namespace: nodes have no namespace');
  const podFlags = { '--containers': containers, '--all-namespaces': allNamespaces };
  const usageFlags = {
    '--sort-by': sortBy,
    '--no-headers': headers === false || undefined,
    '--selector': selector,
    '--field-selector': fieldSelector,
  };
  for (const [flag, value] of Object.entries(podFlags)) {
    if (value !== undefined && kind !== 'pods') throw new ConfigError(`${flag}: only "top pods" takes this flag`);
  }
  for (const [flag, value] of Object.entries(usageFlags)) {
    if (value === undefined || kind !== undefined) continue;
    throw new ConfigError(`${flag}: only "top pods" and "top nodes" take this flag`);
  }
}
