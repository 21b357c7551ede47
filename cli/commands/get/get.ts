import { NodeFailure } from '../../../base/failure.ts';
import { systemClock } from '../../../base/time/clock.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { podFields } from '../../../kubernetes/api/selection/selectableFields.ts';
import { podList } from '../../../show/tables/podList.ts';
import { findPodsByName, haveDuplicateNames } from '../../../show/tables/podsByName.ts';
import { podTable } from '../../../show/tables/table.ts';
import type { NodeSummary } from '../../../socket/agent.ts';
import { formatProblem, listPodProblems, mayBelongTo } from '../../../socket/manifestProblems.ts';
import { connectAgent } from '../../connectAgent.ts';
import { type ObjectFormat, objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';
import { readNode, readPodList, readWatchEvent } from './readPods.ts';
import { createSelection, type SelectionOptions } from './selection.ts';

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

/** The validated options of `get pods`. They are validated before the first request to the agent. */
interface PodQuery {
  readonly options: GetOptions;
  readonly isSelected: (pod: Pod) => boolean;
  readonly format: ObjectFormat;
  readonly write: Write;
}

function selectPods(pods: readonly Pod[], { options, isSelected }: PodQuery): Pod[] {
  const { name, namespace, allNamespaces } = options;
  const podsInNamespace = pods.filter(({ metadata }) => {
    return namespace === undefined || allNamespaces === true || metadata.namespace === namespace;
  });
  return (name === undefined ? podsInNamespace : findPodsByName(name, podsInNamespace)).filter(isSelected);
}

/** Creates a function that prints pods in the requested format. */
function podPrinter(node: Node, { options, format, write }: PodQuery, pods: readonly Pod[]) {
  const showsNamespaces = options.allNamespaces || pods.some(({ metadata }) => metadata.namespace !== 'default');
  const showsUids = haveDuplicateNames(pods);
  const { wide, headers } = { wide: false, headers: true, ...format };
  const printer = tablePrinter(write, { headers });
  if (format.kind === 'table' && node.simulated) write('SIMULATED runtime: no real containers run\n');
  const printTable = (each: readonly Pod[]) => {
    const [header = [], ...lines] = podTable(each, { wide, now: systemClock.now() });
    const withOptionalColumns = (namespace: string, cells: readonly string[], uid: string) => [
      ...(showsNamespaces ? [namespace] : []),
      ...cells,
      ...(showsUids ? [uid] : []),
    ];
    const rows = each.map(({ metadata }, index) =>
      withOptionalColumns(metadata.namespace, lines[index] ?? [], metadata.uid),
    );
    printer.print(withOptionalColumns('NAMESPACE', header, 'UID'), rows);
  };
  return objectPrinter(format, { nameOf: ({ metadata }) => `pod/${metadata.name}`, printTable }, write);
}

/** Prints the changes of a watch. Skips the initial event of each pod that has not changed since it was listed. */
async function printChanges(
  events: AsyncGenerator<unknown>,
  query: PodQuery,
  initialPods: readonly Pod[],
  print: (pods: Pod[]) => Promise<void>,
) {
  const initialJsonByUid = new Map(initialPods.map((pod) => [pod.metadata.uid, JSON.stringify(pod)]));
  const selectedUids = new Set(initialJsonByUid.keys());
  for await (const line of events) {
    const { type, pod } = readWatchEvent(line);
    const { uid } = pod.metadata;
    const isListed = type === 'ADDED' && initialJsonByUid.get(uid) === JSON.stringify(pod);
    initialJsonByUid.delete(uid);
    if (isListed) continue;
    const isSelected = selectPods([pod], query).length > 0;
    // Like an API server's watch, print a pod one last time when it no longer matches the selector.
    if (isSelected || selectedUids.has(uid)) await print([pod]);
    if (isSelected) selectedUids.add(uid);
    else selectedUids.delete(uid);
  }
}

/** Creates the error for a missing pod. If its manifest was rejected, the message contains the reason. */
function notFoundError(name: string, node: Node, { namespace, allNamespaces }: GetOptions): NodeFailure {
  const scope = { node: node.name, namespace: allNamespaces ? undefined : namespace };
  const problems = listPodProblems(name, scope, node.problems);
  const why = problems.length > 0 ? `; its manifest was rejected: ${problems.join('; ')}` : '';
  return new NodeFailure('NotFound', `pods "${name}" not found${why}`);
}

/** Prints the rejected manifests to standard error, because they have no objects to list. */
function printRejectedManifests({ problems }: Node, { name, namespace, allNamespaces }: GetOptions): void {
  const rejectedManifests = problems.filter((problem) => mayBelongTo(allNamespaces ? undefined : namespace, problem));
  if (name !== undefined || rejectedManifests.length === 0) return;
  const fileCount = new Set(rejectedManifests.map(({ file }) => file)).size;
  const problemLines = rejectedManifests.map((problem) => `  ${formatProblem(problem)}\n`).join('');
  process.stderr.write(
    `${fileCount} ${fileCount === 1 ? 'manifest was' : 'manifests were'} rejected:\n${problemLines}`,
  );
}

/**
 * Prints the manifest warnings of pending pods to standard error, because the warnings often say what a pod is waiting
 * for.
 */
function writePendingWarnings(pods: readonly Pod[], { warnings, name: node }: Node): void {
  const pendingPods = pods.filter(({ status }) => status?.phase === 'Pending');
  const warningLines = pendingPods.flatMap(({ metadata: { name, namespace } }) =>
    listPodProblems(name, { node, namespace }, warnings),
  );
  if (warningLines.length === 0) return;
  process.stderr.write(
    `warnings about the manifests of pending pods:\n${warningLines.map((line) => `  ${line}\n`).join('')}`,
  );
}

/**
 * Prints the running agent's pods as `kubectl get` does. With `watch`, also prints every change until the agent stops.
 */
export async function get(options: GetOptions, write: Write): Promise<void> {
  const isSelected = createSelection<Pod>(options, podFields);
  const query: PodQuery = { options, isSelected, format: await readFormat(options), write };
  const agent = await connectAgent(options);
  // Start the watch before the list, so that no change in between is missed.
  const events = options.watch ? await agent.watch('/api/v1/pods', new AbortController().signal) : undefined;
  const pods = selectPods(readPodList(await agent.json('/api/v1/pods')), query);
  const node = readNode(await agent.json('/node'));
  if (pods.length === 0 && options.name !== undefined && !options.watch)
    throw notFoundError(options.name, node, options);
  const { format } = query;
  if (format.kind === 'text' && !options.watch) {
    const printedObject = options.name !== undefined && pods.length === 1 ? pods[0] : podList(pods);
    return void write(await format.formatValue(printedObject));
  }
  if (pods.length === 0 && format.kind !== 'names') process.stderr.write('No resources found\n');
  const print = podPrinter(node, query, pods);
  if (pods.length > 0) await print(pods);
  printRejectedManifests(node, options);
  if (format.kind === 'table') writePendingWarnings(pods, node);
  if (events) await printChanges(events, query, pods, print);
}
