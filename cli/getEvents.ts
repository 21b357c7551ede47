/** `get events`: what happened on the node in the last hour. */
import { systemClock } from '../actors/clock.ts';
import { ConfigError } from '../node/config/configError.ts';
import { suggestion } from '../node/config/fields.ts';
import type { CoreEvent } from '../pod/events/event.ts';
import { eventTable } from '../pod/events/eventTable.ts';
import { NodeFailure } from '../pod/failure.ts';
import { isCalled } from '../pod/show/called.ts';
import { printable } from '../pod/show/printable.ts';
import type { AgentClient } from '../server/client.ts';
import { agentNamed } from './agent.ts';
import { podNameOf } from './explain.ts';
import type { GetOptions } from './get.ts';
import { asText } from './output.ts';
import { readEvent, readEventList } from './readEvents.ts';
import { readNode, readWatched } from './readPods.ts';
import { tablePrinter } from './table/printer.ts';

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
  return ({ type, metadata, involvedObject, source }) =>
    types.includes(type) &&
    (namespace === undefined || metadata.namespace === namespace) &&
    (options.name === undefined || metadata.name === options.name) &&
    (about === undefined || isAbout(about, involvedObject, source.host));
}

const isAbout = (pod: string, { kind, name, uid }: CoreEvent['involvedObject'], node: string): boolean =>
  kind === 'Pod' && (uid === pod || isCalled(pod, name, node));

/** Prints events as they come, in the form that was asked for. */
async function eventPrinter(agent: AgentClient, { output, allNamespaces = false }: GetEventsOptions, write: Write) {
  if (output === 'name')
    return async (each: readonly CoreEvent[]) => each.forEach((event) => void write(`event/${event.metadata.name}\n`));
  if (output === 'json' || output === 'yaml') {
    return async (each: readonly CoreEvent[]) => {
      for (const event of each) write(`${output === 'yaml' ? '---\n' : ''}${await asText(event, output)}`);
    };
  }
  if (readNode(await agent.json('/node')).simulated) write('SIMULATED runtime: no real containers run\n');
  const table = tablePrinter(write);
  return async (each: readonly CoreEvent[]) => {
    const [header = [], ...rows] = eventTable(each, { wide: output === 'wide', now: systemClock.now() });
    const named = rows.map((cells, index) => [each[index]?.metadata.namespace ?? '', ...cells]);
    table.print(allNamespaces ? ['NAMESPACE', ...header] : header, allNamespaces ? named : rows);
  };
}

async function printObjects(options: GetEventsOptions, events: readonly CoreEvent[], output: 'json' | 'yaml') {
  const list = { apiVersion: 'v1', kind: 'EventList', metadata: { resourceVersion: '' }, items: events };
  return asText(options.name !== undefined && events.length === 1 ? events[0] : list, output);
}

/** What a list without anything in it says. */
function nothingFound({ name, for: about }: GetEventsOptions): string {
  if (name !== undefined) throw new NodeFailure('NotFound', `events "${name}" not found`);
  return about === undefined ? 'No events found\n' : `No events found for ${about}\n`;
}

/** Prints the running agent's events like kubectl does, and with `watch` every one until the agent ends. */
export async function getEvents(options: GetEventsOptions, write: Write): Promise<void> {
  const isWanted = wantedEvents(options);
  const agent = await agentNamed(options);
  // Before the list, so that what happens after it is told.
  const changes = options.watch ? await agent.watch(PATH, new AbortController().signal) : undefined;
  const events = readEventList(await agent.json(PATH)).filter(isWanted);
  const { output } = options;
  if ((output === 'json' || output === 'yaml') && !changes)
    return void write(await printObjects(options, events, output));
  if (events.length === 0 && !changes) return void process.stderr.write(printable(nothingFound(options)));
  const print = await eventPrinter(agent, options, write);
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
