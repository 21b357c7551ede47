import { systemClock } from '../actors/clock.ts';
import type { Pod } from '../pod/api/schema/pod.ts';
import { NodeFailure } from '../pod/failure.ts';
import { haveTwins, podsCalled } from '../pod/show/called.ts';
import { podList } from '../pod/show/podList.ts';
import { printable } from '../pod/show/printable.ts';
import { podTable } from '../pod/show/table.ts';
import type { NodeSummary } from '../server/agent.ts';
import { mayBeIn, problemSentence, problemsOf } from '../server/manifestProblems.ts';
import { agentNamed } from './agent.ts';
import { asText, type OutputFormat } from './output.ts';
import { readNode, readPodList, readWatchEvent } from './readPods.ts';
import { type TablePrinter, tablePrinter } from './table/printer.ts';

export interface GetOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output?: OutputFormat;
  readonly watch?: boolean;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

type Write = (text: string) => unknown;

type Node = Pick<NodeSummary, 'name' | 'simulated' | 'problems'>;

function wanted(pods: readonly Pod[], { name, namespace, allNamespaces }: GetOptions): Pod[] {
  const there = pods.filter(({ metadata }) => {
    return namespace === undefined || allNamespaces === true || metadata.namespace === namespace;
  });
  return name === undefined ? there : podsCalled(name, there);
}

/** Prints pods as they come, in the form that was asked for. */
async function podPrinter(node: Node, options: GetOptions, pods: readonly Pod[], write: Write) {
  const { output } = options;
  if (output === 'name')
    return async (each: readonly Pod[]) => each.forEach(({ metadata }) => void write(`pod/${metadata.name}\n`));
  if (output === 'json' || output === 'yaml') {
    return async (each: readonly Pod[]) => {
      for (const pod of each) write(`${output === 'yaml' ? '---\n' : ''}${await asText(pod, output)}`);
    };
  }
  if (node.simulated) write('SIMULATED runtime: no real containers run\n');
  const namespaces = options.allNamespaces || pods.some(({ metadata }) => metadata.namespace !== 'default');
  const uids = haveTwins(pods);
  const table: TablePrinter = tablePrinter(write);
  return async (each: readonly Pod[]) => {
    const [header = [], ...lines] = podTable(each, { wide: output === 'wide', now: systemClock.now() });
    const around = (namespace: string, cells: readonly string[], uid: string) => [
      ...(namespaces ? [namespace] : []),
      ...cells,
      ...(uids ? [uid] : []),
    ];
    const rows = each.map(({ metadata }, index) => around(metadata.namespace, lines[index] ?? [], metadata.uid));
    table.print(around('NAMESPACE', header, 'UID'), rows);
  };
}

/** The watch's events after what was listed: a pod that is the same as in the list is not printed twice. */
async function printChanges(
  events: AsyncGenerator<unknown>,
  options: GetOptions,
  listed: readonly Pod[],
  print: (pods: Pod[]) => Promise<void>,
) {
  const known = new Map(listed.map((pod) => [pod.metadata.uid, JSON.stringify(pod)]));
  for await (const line of events) {
    const { type, pod } = readWatchEvent(line);
    const isKnown = type === 'ADDED' && known.get(pod.metadata.uid) === JSON.stringify(pod);
    known.delete(pod.metadata.uid);
    const shown = isKnown ? [] : wanted([pod], options);
    if (shown.length > 0) await print(shown);
  }
}

async function printObjects(
  options: GetOptions,
  pods: readonly Pod[],
  output: 'json' | 'yaml',
  write: Write,
): Promise<void> {
  write(await asText(options.name !== undefined && pods.length === 1 ? pods[0] : podList(pods), output));
}

/** No pod of this name: what is wrong with its manifest, if it has one. */
function notFound(name: string, node: Node, { namespace, allNamespaces }: GetOptions): NodeFailure {
  const place = { node: node.name, namespace: allNamespaces ? undefined : namespace };
  const refused = problemsOf(name, place, node.problems);
  const why = refused.length > 0 ? `; its manifest was rejected: ${refused.join('; ')}` : '';
  return new NodeFailure('NotFound', `pods "${name}" not found${why}`);
}

/** Manifests that are not used have no object to be shown in the list: they are told beside it, all of them. */
function tellRefused({ problems }: Node, { name, namespace, allNamespaces }: GetOptions): void {
  const told = problems.filter((problem) => mayBeIn(allNamespaces ? undefined : namespace, problem));
  if (name !== undefined || told.length === 0) return;
  const files = new Set(told.map(({ file }) => file)).size;
  const lines = told.map((problem) => `  ${printable(problemSentence(problem))}\n`).join('');
  process.stderr.write(`${files} ${files === 1 ? 'manifest was' : 'manifests were'} rejected:\n${lines}`);
}

/** Prints the running agent's pods like kubectl does, and with `watch` every change until the agent ends. */
export async function get(options: GetOptions, write: Write): Promise<void> {
  const agent = await agentNamed(options);
  // Before the list, so that what happens after it is told.
  const events = options.watch ? await agent.watch('/api/v1/pods', new AbortController().signal) : undefined;
  const pods = wanted(readPodList(await agent.json('/api/v1/pods')), options);
  const node = readNode(await agent.json('/node'));
  if (pods.length === 0 && options.name !== undefined && !options.watch) throw notFound(options.name, node, options);
  const { output } = options;
  if ((output === 'json' || output === 'yaml') && !options.watch) return printObjects(options, pods, output, write);
  if (pods.length === 0 && output !== 'name') process.stderr.write('No resources found\n');
  const print = await podPrinter(node, options, pods, write);
  if (pods.length > 0) await print(pods);
  tellRefused(node, options);
  if (events) await printChanges(events, options, pods, print);
}
