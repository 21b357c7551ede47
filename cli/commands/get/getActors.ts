/** `get actors`: lists every actor of the node and of its pods. */

import { printableText } from '../../../base/text/printable.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { humanDuration } from '../../../base/time/duration.ts';
import { isoTime } from '../../../kubernetes/api/values/rfc3339.ts';
import { withoutNodeSuffix } from '../../../kubernetes/shownName.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { type ActorFilter, parseFilter } from '../../../show/actors/actorFilter.ts';
import { actorRef, actorRows, countActors } from '../../../show/actors/actorRows.ts';
import { timeLeft } from '../../../show/actors/actorRowText.ts';
import type { ActorRow } from '../../../show/actors/treeRows.ts';
import { categoryOf, stableState } from '../../../show/category.ts';
import { failureText } from '../../../show/explain/explainText.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { connectAgent } from '../../connectAgent.ts';
import { type ObjectFormat, objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';
import type { GetOptions } from './get.ts';
import { type ActorsResponse, readActors } from './readActors.ts';

export interface GetActorsOptions extends Omit<GetOptions, 'name' | 'selector' | 'fieldSelector'> {
  /**
   * A filter in the syntax of the inspection page. Each listed actor matches both this filter and the filter arguments.
   */
  readonly filter?: string;
}

type Write = (text: string) => unknown;

/** The terminal on which the list is printed. */
interface TerminalInfo {
  /** Width in columns. Undefined without a terminal. */
  readonly width?: number | undefined;
}

/**
 * An actor in the list. The name is relative to the pod's namespace or, if the actor does not belong to a pod, to the
 * node.
 */
interface ListedActor {
  readonly row: ActorRow;
  readonly name: string;
}

/** Combines the filter arguments and the flag. Throws before the first request to the agent if they are invalid. */
function parseActorFilter(args: readonly string[], { filter = '' }: GetActorsOptions): ActorFilter {
  const parsedFilter = parseFilter([...args, filter].join(' '));
  if ('problem' in parsedFilter) throw new ConfigError(parsedFilter.problem);
  return parsedFilter.matches;
}

const namespaceOf = ({ pod }: ActorRow): string => pod?.namespace ?? '';

/**
 * Returns the name of an actor. Omits the namespace of a pod, which has its own column, and the node name at the end of
 * a static pod's name.
 */
const nameWithoutNode = ({ depth, name, pod }: ActorRow, node: string): string =>
  pod && depth === 0 ? withoutNodeSuffix(pod.name, node) : name;

/** Returns the matching actors without their non-matching ancestors. */
function listActors(actors: ActorsResponse, matches: ActorFilter, options: GetActorsOptions): ListedActor[] {
  const namespace = options.allNamespaces ? undefined : options.namespace;
  const ancestorNames: string[] = [];
  return actorRows(actors, { isOpen: () => true, matches, order: 'name' }).flatMap((row) => {
    ancestorNames.splice(row.depth, ancestorNames.length, nameWithoutNode(row, actors.node.name));
    const nameParts = row.pod === undefined && row.depth > 0 ? ancestorNames.slice(1) : ancestorNames;
    const isSelected = row.isMatch && (namespace === undefined || namespaceOf(row) === namespace);
    return isSelected ? [{ row, name: nameParts.join('/') }] : [];
  });
}

const actorReference = ({ row: { actor, pod } }: ListedActor): string => actorRef(actor, pod);

/** Converts an actor to plain data, without its children, which the list contains as separate items. */
function objectOfActor(each: ListedActor) {
  const { actor, pod: rowPod, kind } = each.row;
  const { name, machine, state, tags, since, until, waitingFor, lastFailure, facts, lists, lastRun } = actor;
  const { namespace, name: pod, uid } = rowPod ?? {};
  return {
    kind: 'Actor',
    ref: actorReference(each),
    name,
    type: kind,
    machine,
    is: categoryOf(actor),
    state,
    tags,
    ...(pod ? { pod: { namespace, name: pod, uid } } : {}),
    since: isoTime(since),
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(until === undefined ? {} : { until: isoTime(until) }),
    ...(lastFailure ? { lastFailure: { ...lastFailure, at: isoTime(lastFailure.at) } } : {}),
    facts,
    ...(lists ? { lists } : {}),
    ...(lastRun ? { lastRun } : {}),
  };
}

const DEFAULT_COLUMNS = ['NAME', 'KIND', 'IS', 'STATE', 'UNTIL', 'AGE'];
const WIDE_COLUMNS = [...DEFAULT_COLUMNS, 'SINCE', 'WAITING FOR', 'LAST FAILURE', 'PATH'];
/** Minimum widths of the columns on a narrow terminal. Undefined for a column of fixed width. */
const MIN_WIDTHS = [12, 9, undefined, 12];

/** Returns the cells of an actor's row. `state` overrides the actor's current state. */
function actorCells(each: ListedActor, now: number, state = each.row.actor.state): string[] {
  const { actor, kind } = each.row;
  const { since, until, waitingFor = '', lastFailure } = actor;
  return [
    each.name,
    kind,
    categoryOf(actor),
    state,
    until === undefined ? '' : timeLeft(until, now),
    humanDuration(Math.max(0, now - since)),
    isoTime(since),
    waitingFor,
    lastFailure ? failureText(lastFailure) : '',
    actorReference(each),
  ];
}

/** Type of a Kubernetes watch event. */
type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** An actor to print, with its watch event. */
interface ActorChange {
  readonly actor: ListedActor;
  readonly type: EventType;
  readonly now: number;
}

/** Prints actors in the requested format. Removed actors are printed with their last state. */
type Print = (actors: readonly ListedActor[], now: number, type: EventType) => Promise<void>;

function actorPrinter(
  initialActors: readonly ListedActor[],
  options: GetActorsOptions,
  { format, write, width }: { readonly format: ObjectFormat; readonly write: Write } & TerminalInfo,
): Print {
  const nameOf = ({ actor, type }: ActorChange) => `${options.watch ? `${type} ` : ''}${actorReference(actor)}`;
  const objectOf = ({ actor, type }: ActorChange) => ({ type, object: objectOfActor(actor) });
  const printTable = actorTable(initialActors, options, { format, write, width });
  const print = objectPrinter<ActorChange>(format, { nameOf, objectOf, printTable }, write);
  return (actors, now, type) => print(actors.map((actor) => ({ actor, now, type })));
}

function actorTable(
  initialActors: readonly ListedActor[],
  { allNamespaces }: GetActorsOptions,
  { format, write, width }: { readonly format: ObjectFormat; readonly write: Write } & TerminalInfo,
) {
  const { wide, headers } = { wide: false, headers: true, ...format };
  const header = wide ? WIDE_COLUMNS : DEFAULT_COLUMNS;
  const showsNamespaces = allNamespaces || initialActors.some(({ row }) => !['', 'default'].includes(namespaceOf(row)));
  const namespaceCell = (namespace: string) => (showsNamespaces ? [namespace] : []);
  const minWidths = showsNamespaces ? [undefined, ...MIN_WIDTHS] : MIN_WIDTHS;
  const fit = width === undefined || wide ? undefined : { width, minWidths };
  const printer = tablePrinter(write, { fit, headers });
  return (changes: readonly ActorChange[]) => {
    const rows = changes.map(({ actor, type, now }) => {
      const cells = actorCells(actor, now, type === 'DELETED' ? 'gone' : undefined).slice(0, header.length);
      return [...namespaceCell(namespaceOf(actor.row)), ...cells];
    });
    printer.print([...namespaceCell('NAMESPACE'), ...header], rows);
  };
}

/**
 * Returns a comparison key that changes when the actor changes. The result of a probe attempt counts as a change, but
 * the start of an attempt does not.
 */
function changeKey({ row: { actor } }: ListedActor): string {
  const { state, since, facts } = actor;
  const stableStateName = stableState(actor);
  return [stableStateName, stableStateName === state ? since : '', categoryOf(actor), ...facts].join();
}

const POLL_INTERVAL_MS = 1_000;

interface WatchOptions {
  readonly poll: () => Promise<{ current: ListedActor[]; now: number }>;
  readonly print: Print;
  readonly initialActors: readonly ListedActor[];
}

/** Prints the changes between polls until a request to the agent fails. */
async function printChanges({ poll, print, initialActors }: WatchOptions): Promise<never> {
  let previousByPath = new Map(initialActors.map((each) => [each.row.actor.path, each]));
  for (;;) {
    await waitForNextPoll();
    const { current, now } = await poll();
    const currentByPath = new Map(current.map((each) => [each.row.actor.path, each]));
    const deletedActors = [...previousByPath.values()].filter(({ row }) => !currentByPath.has(row.actor.path));
    if (deletedActors.length > 0) await print(deletedActors, now, 'DELETED');
    const addedActors = current.filter(({ row }) => !previousByPath.has(row.actor.path));
    const isChanged = (each: ListedActor) => {
      const previousActor = previousByPath.get(each.row.actor.path);
      return previousActor !== undefined && changeKey(previousActor) !== changeKey(each);
    };
    const modifiedActors = current.filter(isChanged);
    if (addedActors.length > 0) await print(addedActors, now, 'ADDED');
    if (modifiedActors.length > 0) await print(modifiedActors, now, 'MODIFIED');
    previousByPath = currentByPath;
  }
}

const waitForNextPoll = (): Promise<void> =>
  new Promise((resolve) => void systemClock.setTimeout(resolve, POLL_INTERVAL_MS));

function emptyListText(actors: ActorsResponse): string {
  const { pods, actors: count } = countActors(actors);
  return `No actors found; there are ${count} of the node and of ${pods} ${pods === 1 ? 'pod' : 'pods'}\n`;
}

/** Prints the matching actors, and with `watch` their changes until the agent stops. */
export async function getActors(
  args: readonly string[],
  options: GetActorsOptions,
  write: Write,
  terminal: TerminalInfo = { width: process.stdout.isTTY ? process.stdout.columns || undefined : undefined },
): Promise<void> {
  const matchesFilter = parseActorFilter(args, options);
  const format = await readFormat(options);
  const agent: AgentClient = await connectAgent(options);
  const actors = readActors(await agent.json('/actors'));
  const listedActors = listActors(actors, matchesFilter, options);
  if (format.kind === 'text' && !options.watch) {
    return void write(await format.formatValue({ kind: 'ActorList', items: listedActors.map(objectOfActor) }));
  }
  if (format.kind === 'table' && actors.simulated) write('SIMULATED runtime: no real containers run\n');
  if (listedActors.length === 0) process.stderr.write(printableText(emptyListText(actors)));
  const print = actorPrinter(listedActors, options, { format, write, ...terminal });
  if (listedActors.length > 0) await print(listedActors, actors.at, 'ADDED');
  const poll = async () => {
    const latestActors = readActors(await agent.json('/actors'));
    return { current: listActors(latestActors, matchesFilter, options), now: latestActors.at };
  };
  if (options.watch) await printChanges({ poll, print, initialActors: listedActors });
}
