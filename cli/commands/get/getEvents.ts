/** `get events`: what happened on the node in the last hour. */
import { systemClock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { printable } from '../../../base/printable.ts';
import { eventFields } from '../../../kubernetes/api/selection/selectableFields.ts';
import type { CoreEvent } from '../../../kubernetes/events/event.ts';
import { eventTable } from '../../../kubernetes/events/eventTable.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { suggestion } from '../../../node/config/fields.ts';
import { matchesName } from '../../../show/tables/podsByName.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { agentNamed } from '../../agent.ts';
import { type ObjectFormat, objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/printer.ts';
import { podNameOf } from './explain.ts';
import type { GetOptions } from './get.ts';
import { readEvent, readEventList } from './readEvents.ts';
import { readNode, readWatched } from './readPods.ts';
import { selection } from './selection.ts';

export interface GetEventsOptions extends GetOptions {
  /** Only those about this object: `pod/NAME`. */
  readonly for?: string;
  /** Only those of these types, separated by commas. */
  readonly types?: string;
}

type Write = (text: string) => unknown;
type Wanted = (event: CoreEvent) => boolean;

const TYPES = ['Normal', 'Warning'];
const PATH = '/api/v1/events';

function typesOf(types: string | undefined): readonly string[] {
  const named = types?.split(',') ?? TYPES;
  return named.map((name) => {
    const type = TYPES.find((known) => known.toLowerCase() === name.trim().toLowerCase());
    if (type === undefined) throw new ConfigError(`--types: ${name} unknown event type${suggestion(name, TYPES)}`);
    return type;
  });
}

/** Which events are asked for; every mistake in what was asked shows here, before any agent is. */
function wantedEvents(options: GetEventsOptions): Wanted {
  const types = typesOf(options.types);
  const about = options.for === undefined ? undefined : podNameOf([options.for]);
  const namespace = options.allNamespaces ? undefined : options.namespace;
  const isSelected = selection<CoreEvent>(options, eventFields);
  return (event) => {
    const { type, metadata, involvedObject, source } = event;
    return (
      types.includes(type) &&
      (namespace === undefined || metadata.namespace === namespace) &&
      (options.name === undefined || metadata.name === options.name) &&
      (about === undefined || isAbout(about, involvedObject, source.host)) &&
      isSelected(event)
    );
  };
}

const isAbout = (pod: string, { kind, name, uid }: CoreEvent['involvedObject'], node: string): boolean =>
  kind === 'Pod' && (uid === pod || matchesName(pod, name, node));

/** Prints events as they come, in the form that was asked for. */
async function eventPrinter(
  agent: AgentClient,
  { allNamespaces = false }: GetEventsOptions,
  format: ObjectFormat,
  write: Write,
) {
  if (format.kind === 'table' && readNode(await agent.json('/node')).simulated) {
    write('SIMULATED runtime: no real containers run\n');
  }
  const { wide, headers } = { wide: false, headers: true, ...format };
  const printer = tablePrinter(write, { headers });
  const table = (each: readonly CoreEvent[]) => {
    const [header = [], ...rows] = eventTable(each, { wide, now: systemClock.now() });
    const named = rows.map((cells, index) => [each[index]?.metadata.namespace ?? '', ...cells]);
    printer.print(allNamespaces ? ['NAMESPACE', ...header] : header, allNamespaces ? named : rows);
  };
  return objectPrinter(format, { nameOf: ({ metadata }) => `event/${metadata.name}`, table }, write);
}

/** What a list without anything in it says. */
function nothingFound({ name, for: about }: GetEventsOptions): string {
  if (name !== undefined) throw new NodeFailure('NotFound', `events "${name}" not found`);
  return about === undefined ? 'No events found\n' : `No events found for ${about}\n`;
}

/** Prints the running agent's events like kubectl does, and with `watch` every one until the agent ends. */
export async function getEvents(options: GetEventsOptions, write: Write): Promise<void> {
  const isWanted = wantedEvents(options);
  const format = await readFormat(options);
  const agent = await agentNamed(options);
  // Before the list, so that what happens after it is told.
  const changes = options.watch ? await agent.watch(PATH, new AbortController().signal) : undefined;
  const events = readEventList(await agent.json(PATH)).filter(isWanted);
  if (format.kind === 'text' && !changes) {
    const list = { apiVersion: 'v1', kind: 'EventList', metadata: { resourceVersion: '' }, items: events };
    return void write(await format.textOf(options.name !== undefined && events.length === 1 ? events[0] : list));
  }
  if (events.length === 0 && !changes) return void process.stderr.write(printable(nothingFound(options)));
  const print = await eventPrinter(agent, options, format, write);
  if (events.length > 0) await print(events);
  if (changes) await printChanges(changes, { isWanted, listed: events, print });
}

/** What the watch tells after the list: one that is the same as in the list is not printed twice. */
async function printChanges(
  changes: AsyncGenerator<unknown>,
  {
    isWanted,
    listed,
    print,
  }: { isWanted: Wanted; listed: readonly CoreEvent[]; print: (events: CoreEvent[]) => Promise<void> },
) {
  const known = new Map(listed.map((event) => [event.metadata.name, event.count]));
  for await (const line of changes) {
    const { type, object } = readWatched(line);
    const event = readEvent(object);
    const isKnown = type === 'ADDED' && known.get(event.metadata.name) === event.count;
    known.delete(event.metadata.name);
    if (type !== 'DELETED' && !isKnown && isWanted(event)) await print([event]);
  }
}
