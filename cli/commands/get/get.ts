import { systemClock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { podFields } from '../../../kubernetes/api/selection/selectableFields.ts';
import { podList } from '../../../show/tables/podList.ts';
import { findPodsByName, haveDuplicateNames } from '../../../show/tables/podsByName.ts';
import { podTable } from '../../../show/tables/table.ts';
import type { NodeSummary } from '../../../socket/agent.ts';
import { mayBeIn, problemSentence, problemsOf } from '../../../socket/manifestProblems.ts';
import { agentNamed } from '../../agent.ts';
import { type ObjectFormat, objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/printer.ts';
import { readNode, readPodList, readWatchEvent } from './readPods.ts';
import { type SelectionOptions, selection } from './selection.ts';

export interface GetOptions extends SelectionOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output?: string;
  readonly headers?: boolean;
  readonly watch?: boolean;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

type Write = (text: string) => unknown;

type Node = Pick<NodeSummary, 'name' | 'simulated' | 'problems' | 'warnings'>;

/** What is asked for of pods, and in which form; every mistake in it shows before any agent is asked. */
interface Asked {
  readonly options: GetOptions;
  readonly isSelected: (pod: Pod) => boolean;
  readonly format: ObjectFormat;
  readonly write: Write;
}

function wanted(pods: readonly Pod[], { options, isSelected }: Asked): Pod[] {
  const { name, namespace, allNamespaces } = options;
  const there = pods.filter(({ metadata }) => {
    return namespace === undefined || allNamespaces === true || metadata.namespace === namespace;
  });
  return (name === undefined ? there : findPodsByName(name, there)).filter(isSelected);
}

/** Prints pods as they come, in the form that was asked for. */
function podPrinter(node: Node, { options, format, write }: Asked, pods: readonly Pod[]) {
  const namespaces = options.allNamespaces || pods.some(({ metadata }) => metadata.namespace !== 'default');
  const uids = haveDuplicateNames(pods);
  const { wide, headers } = { wide: false, headers: true, ...format };
  const printer = tablePrinter(write, { headers });
  if (format.kind === 'table' && node.simulated) write('SIMULATED runtime: no real containers run\n');
  const table = (each: readonly Pod[]) => {
    const [header = [], ...lines] = podTable(each, { wide, now: systemClock.now() });
    const around = (namespace: string, cells: readonly string[], uid: string) => [
      ...(namespaces ? [namespace] : []),
      ...cells,
      ...(uids ? [uid] : []),
    ];
    const rows = each.map(({ metadata }, index) => around(metadata.namespace, lines[index] ?? [], metadata.uid));
    printer.print(around('NAMESPACE', header, 'UID'), rows);
  };
  return objectPrinter(format, { nameOf: ({ metadata }) => `pod/${metadata.name}`, table }, write);
}

/** The watch's events after what was listed: a pod that is the same as in the list is not printed twice. */
async function printChanges(
  events: AsyncGenerator<unknown>,
  asked: Asked,
  listed: readonly Pod[],
  print: (pods: Pod[]) => Promise<void>,
) {
  const known = new Map(listed.map((pod) => [pod.metadata.uid, JSON.stringify(pod)]));
  const selected = new Set(known.keys());
  for await (const line of events) {
    const { type, pod } = readWatchEvent(line);
    const { uid } = pod.metadata;
    const isKnown = type === 'ADDED' && known.get(uid) === JSON.stringify(pod);
    known.delete(uid);
    if (isKnown) continue;
    const isWanted = wanted([pod], asked).length > 0;
    // One that is no longer selected is told once more, as by the watch of an API server.
    if (isWanted || selected.has(uid)) await print([pod]);
    if (isWanted) selected.add(uid);
    else selected.delete(uid);
  }
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
  const lines = told.map((problem) => `  ${problemSentence(problem)}\n`).join('');
  process.stderr.write(`${files} ${files === 1 ? 'manifest was' : 'manifests were'} rejected:\n${lines}`);
}

/** Writes the warnings about the manifests of pending pods to stderr, because they often say what such a pod waits for. */
function writePendingWarnings(pods: readonly Pod[], { warnings, name: node }: Node): void {
  const pending = pods.filter(({ status }) => status?.phase === 'Pending');
  const lines = pending.flatMap(({ metadata: { name, namespace } }) => problemsOf(name, { node, namespace }, warnings));
  if (lines.length === 0) return;
  process.stderr.write(`warnings about the manifests of pending pods:\n${lines.map((line) => `  ${line}\n`).join('')}`);
}

/** Prints the running agent's pods like kubectl does, and with `watch` every change until the agent ends. */
export async function get(options: GetOptions, write: Write): Promise<void> {
  const isSelected = selection<Pod>(options, podFields);
  const asked: Asked = { options, isSelected, format: await readFormat(options), write };
  const agent = await agentNamed(options);
  // Before the list, so that what happens after it is told.
  const events = options.watch ? await agent.watch('/api/v1/pods', new AbortController().signal) : undefined;
  const pods = wanted(readPodList(await agent.json('/api/v1/pods')), asked);
  const node = readNode(await agent.json('/node'));
  if (pods.length === 0 && options.name !== undefined && !options.watch) throw notFound(options.name, node, options);
  const { format } = asked;
  if (format.kind === 'text' && !options.watch) {
    const shown = options.name !== undefined && pods.length === 1 ? pods[0] : podList(pods);
    return void write(await format.textOf(shown));
  }
  if (pods.length === 0 && format.kind !== 'names') process.stderr.write('No resources found\n');
  const print = podPrinter(node, asked, pods);
  if (pods.length > 0) await print(pods);
  tellRefused(node, options);
  if (format.kind === 'table') writePendingWarnings(pods, node);
  if (events) await printChanges(events, asked, pods, print);
}
