/** Strategies of events in the core form and in that of events.k8s.io (`registry/core/event` of kubernetes). */
import { invalidValue } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { type JsonObject, objectAt, objectOf, textAt } from '../../json.ts';
import { metadataOf } from '../../store/metadata.ts';
import { plainStrategy, type Strategy, withSelectors } from '../strategy.ts';

/** An event must be in the namespace of its object, or in `default` if the object has none. */
function eventCauses(event: JsonObject): Cause[] {
  const about = textAt(objectAt(event, 'involvedObject'), 'namespace');
  const { namespace = '' } = metadataOf(event);
  const isRight = about === '' ? namespace === 'default' : about === namespace;
  return isRight ? [] : [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')];
}

const ABOUT = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;
const about = (name: string) => (event: JsonObject) => textAt(objectAt(event, 'involvedObject'), name);

export const eventStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([
    ...ABOUT.map((name) => [`involvedObject.${name}`, about(name)] as const),
    ['reason', (event) => textAt(event, 'reason')],
    ['reportingComponent', (event) => textAt(event, 'reportingComponent')],
    ['source', (event) => textAt(objectAt(event, 'source'), 'component') || textAt(event, 'reportingComponent')],
    ['type', (event) => textAt(event, 'type')],
  ]),
  createsOnUpdate: true,
  createCauses: eventCauses,
};

/** The field names of events.k8s.io, keyed by those of the core. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]);
const CORE_NAMES: ReadonlyMap<string, string> = new Map([...NAMES].map(([core, other]) => [other, core]));

const renameFields = (object: JsonObject, names: ReadonlyMap<string, string>): JsonObject =>
  objectOf(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]));

const MOST_NOTE_BYTES = 1024;

const noteCauses = (event: JsonObject): Cause[] =>
  Buffer.byteLength(textAt(event, 'message')) > MOST_NOTE_BYTES
    ? [invalidValue('message', '', `can have at most ${MOST_NOTE_BYTES} characters`)]
    : [];

export const newEventStrategy: Strategy = {
  ...eventStrategy,
  createCauses: (event) => [...eventCauses(event), ...noteCauses(event)],
  defaulted: (event) => ({ ...renameFields(event, CORE_NAMES), apiVersion: 'v1' }),
  toVersion: (event) => ({ ...renameFields(event, NAMES), apiVersion: 'events.k8s.io/v1' }),
};
