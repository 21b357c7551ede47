/** What entered an actor, as far as a viewer may see it. */
import type { ShownPayload } from './protocol.ts';

/** The fields that may be seen, each for itself; of all others only how many there are. */
const SEEN: ReadonlySet<string> = new Set([
  // What it is about.
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
  // How it is.
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
  // When.
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
/** So many of a list are shown, and so much of a text. */
const MOST_ITEMS = 20;
const MOST_LENGTH = 2_000;

/** The value is one that has been redacted, as recordings are. */
export function shownPayload(value: unknown): ShownPayload {
  let heldBack = 0;
  const shown = (part: unknown): unknown => {
    if (typeof part === 'string') return part.length > MOST_LENGTH ? `${part.slice(0, MOST_LENGTH)}…` : part;
    if (Array.isArray(part)) {
      heldBack += Math.max(0, part.length - MOST_ITEMS);
      return part.slice(0, MOST_ITEMS).map(shown);
    }
    if (typeof part !== 'object' || part === null) return part;
    const fields = Object.entries(part).filter(([name]) => SEEN.has(name));
    heldBack += Object.keys(part).length - fields.length;
    return Object.fromEntries(fields.map(([name, each]) => [name, shown(each)]));
  };
  return { value: shown(value) ?? null, heldBack };
}
