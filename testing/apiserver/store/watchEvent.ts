/** What a watch is told of a change: only of the objects that it selects. */
import type { JsonObject } from '../json.ts';
import { withMetadata } from './metadata.ts';
import type { Change } from './store.ts';

export interface WatchEvent {
  readonly type: Change['type'];
  readonly object: JsonObject;
}

/**
 * The event of a change for a watch; undefined where it concerns nothing that the watch selects. An object that is not
 * selected any more is deleted for it: as it was last, with the version of the change.
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
