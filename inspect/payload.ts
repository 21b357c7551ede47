/** Reduces the payload of an actor's input to the fields that a viewer may see. */
import type { ShownPayload } from './protocol.ts';

/** Names of the fields to include. All other fields are omitted and only counted. */
const VISIBLE_FIELDS: ReadonlySet<string> = new Set([
  // Fields that identify the subject of a payload.
  'type',
  'kind',
  'name',
  'namespace',
  'podName',
  'uid',
  'podUid',
  'id',
  'sandboxId',
  'metadata',
  'pod',
  'pods',
  'container',
  'containers',
  'sandboxes',
  'source',
  'feed',
  'change',
  'attempt',
  'health',
  'pleg',
  // Fields that describe the state.
  'state',
  'ready',
  'outcome',
  'result',
  'reason',
  'message',
  'exitCode',
  'version',
  'stream',
  'restarts',
  'image',
  'imageRef',
  'made',
  'sizeBytes',
  'ips',
  'hostNetwork',
  'hash',
  'failure',
  'run',
  'own',
  'hostPath',
  // Fields that contain times.
  'at',
  'since',
  'createdAt',
  'startedAt',
  'finishedAt',
  'madeAt',
  'podGraceSeconds',
  'graceSeconds',
  'isPermanent',
]);
/** Maximum number of items of a list. Further items are omitted. */
const MAX_ITEMS = 20;
/** Maximum number of characters of a string. A longer string is truncated. */
const MAX_STRING_LENGTH = 2_000;

/** Reduces a payload, which must already have been redacted, as all recorded payloads are. */
export function toShownPayload(value: unknown): ShownPayload {
  let omittedCount = 0;
  const reduceValue = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.length > MAX_STRING_LENGTH ? `${value.slice(0, MAX_STRING_LENGTH)}…` : value;
    if (Array.isArray(value)) {
      omittedCount += Math.max(0, value.length - MAX_ITEMS);
      return value.slice(0, MAX_ITEMS).map(reduceValue);
    }
    if (typeof value !== 'object' || value === null) return value;
    const visibleFields = Object.entries(value).filter(([name]) => VISIBLE_FIELDS.has(name));
    omittedCount += Object.keys(value).length - visibleFields.length;
    return Object.fromEntries(visibleFields.map(([name, each]) => [name, reduceValue(each)]));
  };
  return { value: reduceValue(value) ?? null, heldBack: omittedCount };
}
