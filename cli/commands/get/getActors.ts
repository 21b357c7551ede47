/** `get actors`: every actor of the node and of its pods. */
import { systemClock } from '../../../base/clock.ts';
import { humanDuration } from '../../../base/duration.ts';
import { printable } from '../../../base/printable.ts';
import { isoTime } from '../../../kubernetes/api/rfc3339.ts';
import { withoutNodeSuffix } from '../../../kubernetes/shownName.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { type ActorFilter, parseFilter } from '../../../show/actors/actorFilter.ts';
import { actorRef, actorRows, countActors } from '../../../show/actors/actorRows.ts';
import { timeLeft } from '../../../show/actors/actorRowText.ts';
import type { ActorRow } from '../../../show/actors/treeRows.ts';
import { categoryOf, stableState } from '../../../show/category.ts';
import { failureText } from '../../../show/explain/explainText.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { agentNamed } from '../../agent.ts';
import { type ObjectFormat, objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/printer.ts';
import type { GetOptions } from './get.ts';
import { type AnsweredActors, readActors } from './readActors.ts';

export interface GetActorsOptions extends Omit<GetOptions, 'name' | 'selector' | 'fieldSelector'> {
  /** As on the page; what stands on the command line besides has to hold, too. */
  readonly filter?: string;
}

type Write = (text: string) => unknown;

/** What is known of who looks at it. */
interface Looker {
  /** The columns of the terminal; absent where there is none. */
  readonly width?: number | undefined;
}

/** An actor in the list, with its names from its pod down. */
interface Listed {
  readonly row: ActorRow;
  readonly name: string;
}

/** The filter of words and flag; a mistake in it shows before any agent is asked. */
function filterOf(words: readonly string[], { filter = '' }: GetActorsOptions): ActorFilter {
  const read = parseFilter([...words, filter].join(' '));
  if ('problem' in read) throw new ConfigError(read.problem);
  return read.matches;
}

const namespaceOf = ({ pod }: ActorRow): string => pod?.namespace ?? '';

/** The namespace of a pod has a column of its own. */
const ownName = ({ depth, name, pod }: ActorRow, node: string): string =>
  pod && depth === 0 ? withoutNodeSuffix(pod.name, node) : name;

/** Those that were asked for, whatever stands above them. */
function listed(actors: AnsweredActors, matches: ActorFilter, options: GetActorsOptions): Listed[] {
  const namespace = options.allNamespaces ? undefined : options.namespace;
  const names: string[] = [];
  return actorRows(actors, { isOpen: () => true, matches, order: 'name' }).flatMap((row) => {
    names.splice(row.depth, names.length, ownName(row, actors.node.name));
    const own = row.pod === undefined && row.depth > 0 ? names.slice(1) : names;
    const isWanted = row.isMatch && (namespace === undefined || namespaceOf(row) === namespace);
    return isWanted ? [{ row, name: own.join('/') }] : [];
  });
}

const refOf = ({ row: { actor, pod } }: Listed): string => actorRef(actor, pod);

/** An actor as plain data; those below it have an item of their own. */
function objectOfActor(each: Listed) {
  const { actor, pod: rowPod, kind } = each.row;
  const { name, machine, state, tags, since, until, waitingFor, lastFailure, facts, lists, lastRun } = actor;
  const { namespace, name: pod, uid } = rowPod ?? {};
  return {
    kind: 'Actor',
    ref: refOf(each),
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

const NARROW = ['NAME', 'KIND', 'IS', 'STATE', 'UNTIL', 'AGE'];
const WIDE = [...NARROW, 'SINCE', 'WAITING FOR', 'LAST FAILURE', 'PATH'];
/** What names, kinds and states may be cut to for a terminal. */
const LEAST = [12, 9, undefined, 12];

/** As the cells of the table; `state` stands for the one that it is in. */
function cellsOf(each: Listed, now: number, state = each.row.actor.state): string[] {
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
    refOf(each),
  ];
}

/** What has become of an actor, in the words of a watch of Kubernetes. */
type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** What a list or a watch tells of an actor. */
interface Told {
  readonly actor: Listed;
  readonly type: EventType;
  readonly now: number;
}

/** Prints actors as they come, in the form that was asked for; those that are gone as they were last. */
type Print = (actors: readonly Listed[], now: number, type: EventType) => Promise<void>;

function actorPrinter(
  first: readonly Listed[],
  options: GetActorsOptions,
  { format, write, width }: { readonly format: ObjectFormat; readonly write: Write } & Looker,
): Print {
  const nameOf = ({ actor, type }: Told) => `${options.watch ? `${type} ` : ''}${refOf(actor)}`;
  const objectOf = ({ actor, type }: Told) => ({ type, object: objectOfActor(actor) });
  const table = actorTable(first, options, { format, write, width });
  const print = objectPrinter<Told>(format, { nameOf, objectOf, table }, write);
  return (actors, now, type) => print(actors.map((actor) => ({ actor, now, type })));
}

function actorTable(
  first: readonly Listed[],
  { allNamespaces }: GetActorsOptions,
  { format, write, width }: { readonly format: ObjectFormat; readonly write: Write } & Looker,
) {
  const { wide, headers } = { wide: false, headers: true, ...format };
  const header = wide ? WIDE : NARROW;
  const namespaces = allNamespaces || first.some(({ row }) => !['', 'default'].includes(namespaceOf(row)));
  const before = (namespace: string) => (namespaces ? [namespace] : []);
  const least = namespaces ? [undefined, ...LEAST] : LEAST;
  const fit = width === undefined || wide ? undefined : { width, least };
  const printer = tablePrinter(write, { fit, headers });
  return (told: readonly Told[]) => {
    const rows = told.map(({ actor, type, now }) => {
      const cells = cellsOf(actor, now, type === 'DELETED' ? 'gone' : undefined).slice(0, header.length);
      return [...before(namespaceOf(actor.row)), ...cells];
    });
    printer.print([...before('NAMESPACE'), ...header], rows);
  };
}

/** What there is to tell of an actor: a try of a probe is no news, what it has found is. */
function newsOf({ row: { actor } }: Listed): string {
  const { state, since, facts } = actor;
  const lasting = stableState(actor);
  return [lasting, lasting === state ? since : '', categoryOf(actor), ...facts].join();
}

/** How often the actors are looked at, in milliseconds. */
const LOOK_MS = 1_000;

interface Watch {
  readonly look: () => Promise<{ found: Listed[]; now: number }>;
  readonly print: Print;
  readonly first: readonly Listed[];
}

/** Prints what changes from one look to the next, until the agent is gone. */
async function printChanges({ look, print, first }: Watch): Promise<never> {
  let before = new Map(first.map((each) => [each.row.actor.path, each]));
  for (;;) {
    await pause();
    const { found, now } = await look();
    const present = new Map(found.map((each) => [each.row.actor.path, each]));
    const gone = [...before.values()].filter(({ row }) => !present.has(row.actor.path));
    if (gone.length > 0) await print(gone, now, 'DELETED');
    const added = found.filter(({ row }) => !before.has(row.actor.path));
    const isChanged = (each: Listed) => {
      const was = before.get(each.row.actor.path);
      return was !== undefined && newsOf(was) !== newsOf(each);
    };
    const modified = found.filter(isChanged);
    if (added.length > 0) await print(added, now, 'ADDED');
    if (modified.length > 0) await print(modified, now, 'MODIFIED');
    before = present;
  }
}

const pause = (): Promise<void> => new Promise((resolve) => void systemClock.setTimeout(resolve, LOOK_MS));

/** Why there is nothing in the list. */
function nothingFound(actors: AnsweredActors): string {
  const { pods, actors: count } = countActors(actors);
  return `No actors found; there are ${count} of the node and of ${pods} ${pods === 1 ? 'pod' : 'pods'}\n`;
}

/** Prints the actors that the words ask for, and with `watch` what changes of them until the agent ends. */
export async function getActors(
  words: readonly string[],
  options: GetActorsOptions,
  write: Write,
  looker: Looker = { width: process.stdout.isTTY ? process.stdout.columns || undefined : undefined },
): Promise<void> {
  const matches = filterOf(words, options);
  const format = await readFormat(options);
  const agent: AgentClient = await agentNamed(options);
  const actors = readActors(await agent.json('/actors'));
  const found = listed(actors, matches, options);
  if (format.kind === 'text' && !options.watch) {
    return void write(await format.textOf({ kind: 'ActorList', items: found.map(objectOfActor) }));
  }
  if (format.kind === 'table' && actors.simulated) write('SIMULATED runtime: no real containers run\n');
  if (found.length === 0) process.stderr.write(printable(nothingFound(actors)));
  const print = actorPrinter(found, options, { format, write, ...looker });
  if (found.length > 0) await print(found, actors.at, 'ADDED');
  const look = async () => {
    const now = readActors(await agent.json('/actors'));
    return { found: listed(now, matches, options), now: now.at };
  };
  if (options.watch) await printChanges({ look, print, first: found });
}
