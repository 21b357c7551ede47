/** The payload of an actor's input, reduced to fields that a viewer may see. */
import type { ShownPayload } from './protocol.ts';

/** Allowed field names. Of all other fields only their number is shown. */
const VISIBLE_FIELDS: ReadonlySet<string> = new Set([
  // The subject.
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
  // The state.
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
  // The time.
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
/** Maximum number of items of a list, and of characters of a string. */
const MAX_ITEMS = 20;
const MAX_STRING_LENGTH = 2_000;

/** Expects a value that has already been redacted, as in recordings. */
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
