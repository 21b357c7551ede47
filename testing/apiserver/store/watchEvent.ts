/** Converts changes to watch events according to the selector of the watch. */
import type { JsonObject } from '../json.ts';
import { withMetadata } from './metadata.ts';
import type { Change } from './store.ts';

export interface WatchEvent {
  readonly type: Change['type'];
  readonly object: JsonObject;
}

/**
 * Returns the event of a change, or undefined if the watch does not select the object. An object that is no longer
 * selected is reported as deleted, in its last selected state with the new version.
 */
export function watchEvent(
  { type, revision, object, before }: Change,
  selects: (object: JsonObject) => boolean,
): WatchEvent | undefined {
  const wasSelected = before !== undefined && selects(before);
  if (type !== 'DELETED' && selects(object)) return { type: wasSelected ? 'MODIFIED' : 'ADDED', object };
  if (!wasSelected) return undefined;
  const last = type === 'DELETED' ? object : withMetadata(before, { resourceVersion: String(revision) });
  return { type: 'DELETED', object: last };
}
