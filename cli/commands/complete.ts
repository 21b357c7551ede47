/** Computes completions of a command line for the scripts of `statelet completion`. */
import { homedir } from 'node:os';
import type { Command, Option } from 'commander';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { connectAgent } from '../connectAgent.ts';
import { readPodList } from './get/readPods.ts';
import { KINDS } from './get/resource.ts';

interface CompletionPod extends Pick<Pod['metadata'], 'name' | 'namespace'> {
  readonly containers: readonly string[];
  readonly volumes?: readonly string[];
}

/** Lists the pods of the agent selected by the flags. */
export type ListPods = (flags: {
  readonly rootDir?: string;
  readonly stateDir?: string;
}) => Promise<readonly CompletionPod[]>;

/** The parsed words after the command's name. */
interface ParsedLine {
  readonly flagValues: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  /** The last flag, if its value is missing. */
  readonly optionAwaitingValue?: Option;
}

/**
 * Time limit for the response of the agent, in milliseconds. It is short, because an incomplete list is better than a
 * Tab key that does not react.
 */
const TIMEOUT_MS = 1_000;

/** Lists the running agent's pods. Empty if there is no agent or it does not respond within the time limit. */
export const listPods: ListPods = async (flags) => {
  const timeout = new Promise<[]>((resolve) => {
    startTimeLimit(TIMEOUT_MS).signal.addEventListener('abort', () => resolve([]));
  });
  const fetchPods = async () => {
    const agent = await connectAgent(flags);
    return readPodList(await agent.json('/api/v1/pods')).map(({ metadata: { name, namespace }, spec }) => ({
      name,
      namespace,
      containers: containersOf(spec).map(({ container }) => container.name),
      volumes: (spec.volumes ?? []).map((volume) => volume.name),
    }));
  };
  return Promise.race([fetchPods().catch(() => []), timeout]);
};

/**
 * Returns the output for the completion script: the candidates for the last word, one per line, followed by `:file` if
 * file names are also candidates, or by `:none` otherwise.
 */
export async function complete(program: Command, words: readonly string[], queryPods: ListPods): Promise<string[]> {
  const [typedWord = ''] = words.slice(-1);
  // bash passes `--flag=value` as three words: the flag, `=` and the value.
  const leadingWords = words.slice(0, -1).filter((word) => word !== '=');
  const lastWord = typedWord === '=' ? '' : typedWord;
  const [, flag, current = lastWord] = /^(--[\w-]+=)(.*)$/.exec(lastWord) ?? [];
  const precedingWords = flag === undefined ? leadingWords : [...leadingWords, flag.slice(0, -1)];
  const { command, rest } = commandOf(program, precedingWords);
  if (command === program) {
    const [name] = rest;
    return completionLines(name === undefined || name === 'help' ? topLevelWords(program, current) : [], current);
  }
  const line = parseLine(command, rest);
  if (line.optionAwaitingValue !== undefined) {
    const candidates = await listOptionValues(line.optionAwaitingValue, line, queryPods);
    return completionLines(candidates, current, { prefix: flag ?? '', isFile: takesFile(line.optionAwaitingValue) });
  }
  if (current.startsWith('-')) return completionLines([...flagsOf(command), '--help'], current);
  const isFileArgument = command.registeredArguments[line.positionals.length]?.name() === 'file';
  return completionLines(await listArgumentCandidates(command, line, { current, ask: queryPods }), current, {
    isFile: isFileArgument,
  });
}

/** Returns the command or subcommand that the first words name, and the remaining words. */
function commandOf(program: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  const [name, ...rest] = words;
  const command = program.commands.find((each) => each.name() === name);
  return command === undefined ? { command: program, rest: words } : commandOf(command, rest);
}

function completionLines(
  candidates: readonly string[],
  currentWord: string,
  { prefix = '', isFile: takesFile = false } = {},
): string[] {
  const matchingCandidates = candidates.filter((each) => each.startsWith(currentWord)).map((each) => prefix + each);
  return [...new Set(matchingCandidates), takesFile ? ':file' : ':none'];
}

const topLevelWords = (program: Command, currentWord: string): string[] =>
  currentWord.startsWith('-')
    ? [...flagsOf(program), '--help']
    : program
        .createHelp()
        .visibleCommands(program)
        .map((each) => each.name());

const flagsOf = (command: Command): string[] =>
  command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ long, short }) => [long, short].filter((each) => each != null));

const takesFile = ({ flags }: Option): boolean => /<(file|directory|path|socket)>/.test(flags);

function parseLine(command: Command, words: readonly string[]): ParsedLine {
  const flagValues = new Map<string, string>();
  const positionals: string[] = [];
  let optionAwaitingValue: Option | undefined;
  for (const word of words) {
    const [name = '', value] = word.split('=');
    const option = command.options.find(({ long, short }) => name === long || name === short);
    if (optionAwaitingValue !== undefined) {
      flagValues.set(optionAwaitingValue.attributeName(), word);
      optionAwaitingValue = undefined;
    } else if (option === undefined && !word.startsWith('-')) positionals.push(word);
    else if (option?.required && value === undefined) optionAwaitingValue = option;
    else if (option && value !== undefined) flagValues.set(option.attributeName(), value);
  }
  return { flagValues, positionals, ...(optionAwaitingValue ? { optionAwaitingValue } : {}) };
}

async function listAgentPods({ flagValues }: ParsedLine, queryPods: ListPods): Promise<readonly CompletionPod[]> {
  const [rootDir, stateDir] = ['rootDir', 'stateDir'].map((name) =>
    flagValues.get(name)?.replace(/^~(?=\/|$)/, homedir()),
  );
  return queryPods({ ...(rootDir === undefined ? {} : { rootDir }), ...(stateDir === undefined ? {} : { stateDir }) });
}

async function listPodsInNamespace(line: ParsedLine, queryPods: ListPods): Promise<CompletionPod[]> {
  const namespace = line.flagValues.get('namespace');
  const pods = await listAgentPods(line, queryPods);
  return pods.filter((pod) => namespace === undefined || pod.namespace === namespace);
}

const listPodNames = async (line: ParsedLine, queryPods: ListPods): Promise<string[]> =>
  (await listPodsInNamespace(line, queryPods)).map(({ name }) => name);

/**
 * Returns the containers or volumes of the pod that the command line names, either by the pod's full name or by the
 * name in the manifest. Without a name, returns those of all pods.
 */
async function listPodPartNames(
  line: ParsedLine,
  queryPods: ListPods,
  kind: 'containers' | 'volumes',
): Promise<string[]> {
  const name = (line.flagValues.get('explain') ?? line.positionals.at(-1))?.split('/').at(-1);
  const pods = await listPodsInNamespace(line, queryPods);
  const exactMatches = pods.filter((pod) => name === undefined || pod.name === name);
  const matchingPods = exactMatches.length > 0 ? exactMatches : pods.filter((pod) => pod.name.startsWith(`${name}-`));
  return matchingPods.flatMap((pod) => pod[kind] ?? []);
}

async function listOptionValues(option: Option, line: ParsedLine, queryPods: ListPods): Promise<readonly string[]> {
  // Exclude values ending in `=`, because the shell would append a space.
  if (option.argChoices) return option.argChoices.filter((each) => !each.endsWith('='));
  if (option.long === '--types') return ['Normal', 'Warning'];
  if (option.long === '--namespace') return (await listAgentPods(line, queryPods)).map(({ namespace }) => namespace);
  if (option.long === '--container') return listPodPartNames(line, queryPods, 'containers');
  if (option.long === '--volume') return listPodPartNames(line, queryPods, 'volumes');
  if (option.long === '--for') return (await listPodNames(line, queryPods)).map((name) => `pod/${name}`);
  return [];
}

const KINDS_BY_COMMAND: ReadonlyMap<string, readonly string[]> = new Map([
  ['get', [KINDS.pods[0], KINDS.nodes[0], KINDS.events[0], KINDS.actors[0]]],
  ['describe', [KINDS.pods[1], KINDS.nodes[1]]],
  ['explain', [KINDS.pods[1], KINDS.nodes[1]]],
  ['top', [KINDS.pods[0], KINDS.nodes[0]]],
  ['exec', [KINDS.pods[1]]],
  ['attach', [KINDS.pods[1]]],
  ['delete', [KINDS.pods[1]]],
]);

const isPodKind = (kind = ''): boolean => KINDS.pods.some((each) => each === kind);

/** Completes `logs POD CONTAINER`. The pod can be written as NAME or pod/NAME. */
async function listLogsArguments(
  line: ParsedLine,
  { current, ask }: { current: string; ask: ListPods },
): Promise<readonly string[]> {
  const { positionals } = line;
  if (positionals.length > 0) return positionals.length === 1 ? listPodPartNames(line, ask, 'containers') : [];
  const [kind = '', name] = current.split('/');
  const matchingNames = await listPodNames(line, ask);
  return name !== undefined && isPodKind(kind) ? matchingNames.map((each) => `${kind}/${each}`) : matchingNames;
}

/** Completes a positional argument: `KIND NAME` or `KIND/NAME`. */
async function listArgumentCandidates(
  command: Command,
  line: ParsedLine,
  { current, ask }: { current: string; ask: ListPods },
): Promise<readonly string[]> {
  const resourceKinds = KINDS_BY_COMMAND.get(command.name());
  const { positionals } = line;
  if (command.name() === 'logs') return listLogsArguments(line, { current, ask });
  if (resourceKinds === undefined) {
    const { argChoices } = command.registeredArguments[positionals.length] ?? {};
    return argChoices ?? (positionals.length === 0 ? command.commands.map((each) => each.name()) : []);
  }
  const [kind = '', name] = current.split('/');
  if (positionals.length === 0 && name === undefined) return resourceKinds;
  if (positionals.length === 0)
    return isPodKind(kind) ? (await listPodNames(line, ask)).map((each) => `${kind}/${each}`) : [];
  return positionals.length === 1 && isPodKind(positionals[0]) ? listPodNames(line, ask) : [];
}
