/** `get events`: lists the events of the last hour. */

import { NodeFailure } from '../../../base/failure.ts';
import { printableText } from '../../../base/text/printable.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { eventFields } from '../../../kubernetes/api/selection/selectableFields.ts';
import type { CoreEvent } from '../../../kubernetes/events/event.ts';
import { eventTable } from '../../../kubernetes/events/eventTable.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { formatSuggestion } from '../../../node/config/fields/fields.ts';
import { matchesName } from '../../../show/tables/podsByName.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { connectAgent } from '../../connectAgent.ts';
import { type ObjectFormat, objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';
import { parsePodName } from './explain.ts';
import type { GetOptions } from './get.ts';
import { readEvent, readEventList } from './readEvents.ts';
import { readNode, readWatchLine } from './readPods.ts';
import { createSelection } from './selection.ts';

export interface GetEventsOptions extends GetOptions {
  /** Object whose events are listed, as `pod/NAME`. */
  readonly for?: string;
  /** Types of the listed events, separated by commas. */
  readonly types?: string;
}

type Write = (text: string) => unknown;
type EventFilter = (event: CoreEvent) => boolean;

const EVENT_TYPES = ['Normal', 'Warning'];
const EVENTS_PATH = '/api/v1/events';

function parseEventTypes(types: string | undefined): readonly string[] {
  const typeNames = types?.split(',') ?? EVENT_TYPES;
  return typeNames.map((name) => {
    const type = EVENT_TYPES.find((eventType) => eventType.toLowerCase() === name.trim().toLowerCase());
    if (type === undefined)
      throw new ConfigError(`--types: ${name} unknown event type${formatSuggestion(name, EVENT_TYPES)}`);
    return type;
  });
}

/** Creates the filter from the options. Throws before the first request to the agent if an option is invalid. */
function createEventFilter(options: GetEventsOptions): EventFilter {
  const types = parseEventTypes(options.types);
  const podName = options.for === undefined ? undefined : parsePodName([options.for]);
  const namespace = options.allNamespaces ? undefined : options.namespace;
  const isSelected = createSelection<CoreEvent>(options, eventFields);
  return (event) => {
    const { type, metadata, involvedObject, source } = event;
    return (
      types.includes(type) &&
      (namespace === undefined || metadata.namespace === namespace) &&
      (options.name === undefined || metadata.name === options.name) &&
      (podName === undefined || isAbout(podName, involvedObject, source.host)) &&
      isSelected(event)
    );
  };
}

const isAbout = (pod: string, { kind, name, uid }: CoreEvent['involvedObject'], node: string): boolean =>
  kind === 'Pod' && (uid === pod || matchesName(pod, name, node));

/** Creates a function that prints events in the requested format. */
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
  const printTable = (each: readonly CoreEvent[]) => {
    const [header = [], ...rows] = eventTable(each, { wide, now: systemClock.now() });
    const rowsWithNamespace = rows.map((cells, index) => [each[index]?.metadata.namespace ?? '', ...cells]);
    printer.print(allNamespaces ? ['NAMESPACE', ...header] : header, allNamespaces ? rowsWithNamespace : rows);
  };
  return objectPrinter(format, { nameOf: ({ metadata }) => `event/${metadata.name}`, printTable }, write);
}

/** Returns the message for an empty list. Throws if an event was requested by name. */
function emptyListText({ name, for: about }: GetEventsOptions): string {
  if (name !== undefined) throw new NodeFailure('NotFound', `events "${name}" not found`);
  return about === undefined ? 'No events found\n' : `No events found for ${about}\n`;
}

/**
 * Prints the running agent's events as `kubectl get events` does. With `watch`, also prints new events until the agent
 * stops.
 */
export async function getEvents(options: GetEventsOptions, write: Write): Promise<void> {
  const isSelectedEvent = createEventFilter(options);
  const format = await readFormat(options);
  const agent = await connectAgent(options);
  // Start the watch before the list, so that no event in between is missed.
  const watchEvents = options.watch ? await agent.watch(EVENTS_PATH, new AbortController().signal) : undefined;
  const events = readEventList(await agent.json(EVENTS_PATH)).filter(isSelectedEvent);
  if (format.kind === 'text' && !watchEvents) {
    const eventList = { apiVersion: 'v1', kind: 'EventList', metadata: { resourceVersion: '' }, items: events };
    return void write(
      await format.formatValue(options.name !== undefined && events.length === 1 ? events[0] : eventList),
    );
  }
  if (events.length === 0 && !watchEvents) return void process.stderr.write(printableText(emptyListText(options)));
  const print = await eventPrinter(agent, options, format, write);
  if (events.length > 0) await print(events);
  if (watchEvents) await printChanges(watchEvents, { isSelectedEvent, listed: events, print });
}

/** Prints the events of a watch. Skips the initial event of each object that has not changed since it was listed. */
async function printChanges(
  watchEvents: AsyncGenerator<unknown>,
  {
    isSelectedEvent,
    listed: initialEvents,
    print,
  }: { isSelectedEvent: EventFilter; listed: readonly CoreEvent[]; print: (events: CoreEvent[]) => Promise<void> },
) {
  const countsByEventName = new Map(initialEvents.map((event) => [event.metadata.name, event.count]));
  for await (const line of watchEvents) {
    const { type, object } = readWatchLine(line);
    const event = readEvent(object);
    const isListed = type === 'ADDED' && countsByEventName.get(event.metadata.name) === event.count;
    countsByEventName.delete(event.metadata.name);
    if (type !== 'DELETED' && !isListed && isSelectedEvent(event)) await print([event]);
  }
}
