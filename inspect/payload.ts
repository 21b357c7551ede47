/** Reduces the payload of an actor's input to fields that a viewer may see. */
import type { ShownPayload } from './protocol.ts';

/** Allowed field names. All other fields are omitted and only counted. */
const VISIBLE_FIELDS: ReadonlySet<string> = new Set([
  // Fields that identify the subject.
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
  'beganAt',
  'createdAt',
  'startedAt',
  'finishedAt',
  'madeAt',
  'podGraceSeconds',
  'graceSeconds',
]);
/** Maximum number of items of a list. Further items are omitted. */
const MAX_ITEMS = 20;
/** Maximum number of characters of a string. A longer string is truncated. */
const MAX_STRING_LENGTH = 2_000;

/** Reduces a payload, which must already have been redacted, as in recordings. */
export function shownPayload(value: unknown): ShownPayload {
  let heldBack = 0;
  const reduce = (part: unknown): unknown => {
    if (typeof part === 'string')
      return part.length > MAX_STRING_LENGTH ? `${part.slice(0, MAX_STRING_LENGTH)}…` : part;
    if (Array.isArray(part)) {
      heldBack += Math.max(0, part.length - MAX_ITEMS);
      return part.slice(0, MAX_ITEMS).map(reduce);
    }
    if (typeof part !== 'object' || part === null) return part;
    const fields = Object.entries(part).filter(([name]) => VISIBLE_FIELDS.has(name));
    heldBack += Object.keys(part).length - fields.length;
    return Object.fromEntries(fields.map(([name, each]) => [name, reduce(each)]));
  };
  return { value: reduce(value) ?? null, heldBack };
}
