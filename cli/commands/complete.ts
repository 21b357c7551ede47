/** What may follow on the command line, for the scripts of `statelet completion`: of words as they were typed. */
import { homedir } from 'node:os';
import type { Command, Option } from 'commander';
import { startTimeLimit } from '../../base/timeLimit.ts';
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { agentNamed } from '../agent.ts';
import { readPodList } from './get/readPods.ts';
import { KINDS } from './get/resource.ts';

interface Known extends Pick<Pod['metadata'], 'name' | 'namespace'> {
  /** The names of its containers, and of its volumes. */
  readonly containers: readonly string[];
  readonly volumes?: readonly string[];
}

/** The pods of the agent that these flags lead to. */
export type AskPods = (flags: { readonly rootDir?: string; readonly stateDir?: string }) => Promise<readonly Known[]>;

/** What stands on the line behind a command: its flags with their values, and the other words. */
interface Line {
  readonly values: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  /** The flag whose value comes next. */
  readonly awaiting?: Option;
}

/** A Tab that nobody answers is worse than one without names, in milliseconds. */
const LIMIT_MS = 1_000;

/** The names of the running agent's pods; none when there is no agent, or none that answers soon. */
export const askPods: AskPods = async (flags) => {
  const late = new Promise<[]>((resolve) => {
    startTimeLimit(LIMIT_MS).signal.addEventListener('abort', () => resolve([]));
  });
  const ask = async () => {
    const agent = await agentNamed(flags);
    return readPodList(await agent.json('/api/v1/pods')).map(({ metadata: { name, namespace }, spec }) => ({
      name,
      namespace,
      containers: containersOf(spec).map(({ container }) => container.name),
      volumes: (spec.volumes ?? []).map((volume) => volume.name),
    }));
  };
  return Promise.race([ask().catch(() => []), late]);
};

/** The lines that a shell's script reads: what may stand for the last word, then `:file` where a file may as well, or `:none`. */
export async function complete(program: Command, words: readonly string[], ask: AskPods): Promise<string[]> {
  const [typed = ''] = words.slice(-1);
  // bash takes the = of --flag=value for a word of its own.
  const before = words.slice(0, -1).filter((word) => word !== '=');
  const last = typed === '=' ? '' : typed;
  const [, flag, current = last] = /^(--[\w-]+=)(.*)$/.exec(last) ?? [];
  const given = flag === undefined ? before : [...before, flag.slice(0, -1)];
  const { command, rest } = commandOf(program, given);
  if (command === program) {
    const [name] = rest;
    return finished(name === undefined || name === 'help' ? topText(program, current) : [], current);
  }
  const line = lineOf(command, rest);
  if (line.awaiting !== undefined) {
    const values = await valuesOf(line.awaiting, line, ask);
    return finished(values, current, { prefix: flag ?? '', isFile: isFile(line.awaiting) });
  }
  if (current.startsWith('-')) return finished([...flagsOf(command), '--help'], current);
  const file = command.registeredArguments[line.positionals.length]?.name() === 'file';
  return finished(await wordsOf(command, line, { current, ask }), current, { isFile: file });
}

/** The command that the first words name, be it one of another's, and the words after it. */
function commandOf(program: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  const [name, ...rest] = words;
  const command = program.commands.find((each) => each.name() === name);
  return command === undefined ? { command: program, rest: words } : commandOf(command, rest);
}

function finished(
  candidates: readonly string[],
  current: string,
  { prefix = '', isFile: file = false } = {},
): string[] {
  const fitting = candidates.filter((each) => each.startsWith(current)).map((each) => prefix + each);
  return [...new Set(fitting), file ? ':file' : ':none'];
}

const topText = (program: Command, current: string): string[] =>
  current.startsWith('-')
    ? [...flagsOf(program), '--help']
    : program
        .createHelp()
        .visibleCommands(program)
        .map((each) => each.name());

const flagsOf = (command: Command): string[] =>
  command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ long, short }) => [long, short].filter((each) => each != null));

const isFile = ({ flags }: Option): boolean => /<(file|directory|path|socket)>/.test(flags);

function lineOf(command: Command, words: readonly string[]): Line {
  const values = new Map<string, string>();
  const positionals: string[] = [];
  let awaiting: Option | undefined;
  for (const word of words) {
    const [name = '', value] = word.split('=');
    const option = command.options.find(({ long, short }) => name === long || name === short);
    if (awaiting !== undefined) {
      values.set(awaiting.attributeName(), word);
      awaiting = undefined;
    } else if (option === undefined && !word.startsWith('-')) positionals.push(word);
    else if (option?.required && value === undefined) awaiting = option;
    else if (option && value !== undefined) values.set(option.attributeName(), value);
  }
  return { values, positionals, ...(awaiting ? { awaiting } : {}) };
}

async function podsOn({ values }: Line, ask: AskPods): Promise<readonly Known[]> {
  const [rootDir, stateDir] = ['rootDir', 'stateDir'].map((name) => values.get(name)?.replace(/^~(?=\/|$)/, homedir()));
  return ask({ ...(rootDir === undefined ? {} : { rootDir }), ...(stateDir === undefined ? {} : { stateDir }) });
}

async function podsIn(line: Line, ask: AskPods): Promise<Known[]> {
  const namespace = line.values.get('namespace');
  const pods = await podsOn(line, ask);
  return pods.filter((pod) => namespace === undefined || pod.namespace === namespace);
}

const namesOf = async (line: Line, ask: AskPods): Promise<string[]> =>
  (await podsIn(line, ask)).map(({ name }) => name);

/** Of the pod that is named, by its full name or that of its manifest, or of all. */
async function partsOn(line: Line, ask: AskPods, kind: 'containers' | 'volumes'): Promise<string[]> {
  const name = (line.values.get('explain') ?? line.positionals.at(-1))?.split('/').at(-1);
  const pods = await podsIn(line, ask);
  const named = pods.filter((pod) => name === undefined || pod.name === name);
  const meant = named.length > 0 ? named : pods.filter((pod) => pod.name.startsWith(`${name}-`));
  return meant.flatMap((pod) => pod[kind] ?? []);
}

async function valuesOf(option: Option, line: Line, ask: AskPods): Promise<readonly string[]> {
  // Behind what goes on after `=` a shell would set a space.
  if (option.argChoices) return option.argChoices.filter((each) => !each.endsWith('='));
  if (option.long === '--types') return ['Normal', 'Warning'];
  if (option.long === '--namespace') return (await podsOn(line, ask)).map(({ namespace }) => namespace);
  if (option.long === '--container') return partsOn(line, ask, 'containers');
  if (option.long === '--volume') return partsOn(line, ask, 'volumes');
  if (option.long === '--for') return (await namesOf(line, ask)).map((name) => `pod/${name}`);
  return [];
}

const KINDS_OF: ReadonlyMap<string, readonly string[]> = new Map([
  ['get', [KINDS.pods[0], KINDS.nodes[0], KINDS.events[0], KINDS.actors[0]]],
  ['describe', [KINDS.pods[1], KINDS.nodes[1]]],
  ['explain', [KINDS.pods[1], KINDS.nodes[1]]],
  ['top', [KINDS.pods[0], KINDS.nodes[0]]],
  ['exec', [KINDS.pods[1]]],
  ['attach', [KINDS.pods[1]]],
  ['delete', [KINDS.pods[1]]],
]);

const isPods = (kind = ''): boolean => KINDS.pods.some((each) => each === kind);

/** A pod, of whatever spelling, and then one of its containers. */
async function logsWords(line: Line, { current, ask }: { current: string; ask: AskPods }): Promise<readonly string[]> {
  const { positionals } = line;
  if (positionals.length > 0) return positionals.length === 1 ? partsOn(line, ask, 'containers') : [];
  const [kind = '', name] = current.split('/');
  const names = await namesOf(line, ask);
  return name !== undefined && isPods(kind) ? names.map((each) => `${kind}/${each}`) : names;
}

/** The words that are no flags: a kind, then a name of it, or both in one. */
async function wordsOf(
  command: Command,
  line: Line,
  { current, ask }: { current: string; ask: AskPods },
): Promise<readonly string[]> {
  const kinds = KINDS_OF.get(command.name());
  const { positionals } = line;
  if (command.name() === 'logs') return logsWords(line, { current, ask });
  if (kinds === undefined) {
    const { argChoices } = command.registeredArguments[positionals.length] ?? {};
    return argChoices ?? (positionals.length === 0 ? command.commands.map((each) => each.name()) : []);
  }
  const [kind = '', name] = current.split('/');
  if (positionals.length === 0 && name === undefined) return kinds;
  if (positionals.length === 0) return isPods(kind) ? (await namesOf(line, ask)).map((each) => `${kind}/${each}`) : [];
  return positionals.length === 1 && isPods(positionals[0]) ? namesOf(line, ask) : [];
}
