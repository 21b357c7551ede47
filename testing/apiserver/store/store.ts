/** The objects in memory. Each write has a revision of the whole store, as in etcd. */
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, withMetadata } from './metadata.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** The object after the write. For a deletion, the last state with the revision of the deletion. */
  readonly object: JsonObject;
  /** The object before the write. */
  readonly before: JsonObject | undefined;
}

/** A resource by group and plural name, e.g. `coordination.k8s.io/leases` or `/pods`. */
export type ResourceName = `${string}/${string}`;

interface Table {
  readonly objects: Map<string, JsonObject>;
  /** The changes since the last compaction, oldest first. */
  readonly changes: Change[];
  readonly watchers: Set<(change: Change) => void>;
  /** The revision of the last compaction. */
  compactedRevision: number;
}

const sortedByKey = (objects: ReadonlyMap<string, JsonObject>) =>
  [...objects].sort(([one], [other]) => (one < other ? -1 : 1));

/** The key of an object within its resource. Objects are listed in key order. */
const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

export class Store {
  readonly #tables = new Map<ResourceName, Table>();
  #revision = 1;

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  get(resource: ResourceName, namespace: string | undefined, name: string): JsonObject | undefined {
    return this.#table(resource).objects.get(keyOf(namespace, name));
  }

  /**
   * Returns the objects with their keys, in key order, optionally at an earlier revision that has not been compacted.
   */
  list(resource: ResourceName, revision = this.#revision): readonly (readonly [key: string, object: JsonObject])[] {
    const { objects, changes } = this.#table(resource);
    if (revision >= this.#revision) return sortedByKey(objects);
    const then = new Map(objects);
    for (const { revision: at, object, before } of changes.toReversed()) {
      if (at <= revision) break;
      const key = keyOfObject(object);
      if (before === undefined) then.delete(key);
      else then.set(key, before);
    }
    return sortedByKey(then);
  }

  /** Returns the objects at a revision, or undefined if it has been compacted. */
  listAt(resource: ResourceName, revision: number): ReturnType<Store['list']> | undefined {
    return revision < this.#table(resource).compactedRevision ? undefined : this.list(resource, revision);
  }

  /** Writes an object and returns it with its revision. An unchanged object is not written. */
  put(resource: ResourceName, object: JsonObject): JsonObject {
    const { objects } = this.#table(resource);
    const key = keyOfObject(object);
    const before = objects.get(key);
    const { resourceVersion } = metadataOf(before ?? {});
    if (before && resourceVersion && isJsonEqual(before, withMetadata(object, { resourceVersion }))) return before;
    const written = this.#write(resource, before ? 'MODIFIED' : 'ADDED', object, before);
    objects.set(key, written);
    return written;
  }

  /** Removes an object and returns its last state with the revision of the deletion. */
  remove(resource: ResourceName, object: JsonObject): JsonObject {
    const { objects } = this.#table(resource);
    const key = keyOfObject(object);
    const before = objects.get(key);
    objects.delete(key);
    return this.#write(resource, 'DELETED', object, before);
  }

  /** Returns the changes of a resource after a revision, or undefined if they have been compacted. */
  changesSince(resource: ResourceName, revision: number): readonly Change[] | undefined {
    if (revision < this.#table(resource).compactedRevision) return undefined;
    return this.#table(resource).changes.filter((change) => change.revision > revision);
  }

  /** Calls `onChange` with each change until the returned function is called. */
  watch(resource: ResourceName, onChange: (change: Change) => void): () => void {
    const { watchers } = this.#table(resource);
    watchers.add(onChange);
    return () => void watchers.delete(onChange);
  }

  /** Compacts the history of these resources, or of all, so that watches that have missed changes must relist. */
  compact(resources: Iterable<ResourceName> = this.#tables.keys()): void {
    for (const resource of resources) {
      const table = this.#table(resource);
      table.compactedRevision = this.#revision;
      table.changes.length = 0;
    }
  }

  #write(resource: ResourceName, type: Change['type'], object: JsonObject, before: JsonObject | undefined): JsonObject {
    this.#revision += 1;
    const table = this.#table(resource);
    const written = withMetadata(object, { resourceVersion: String(this.#revision) });
    const change = { type, revision: this.#revision, object: written, before };
    table.changes.push(change);
    for (const watcher of [...table.watchers]) watcher(change);
    return written;
  }

  #table(resource: ResourceName): Table {
    const table = this.#tables.get(resource) ?? {
      objects: new Map(),
      changes: [],
      watchers: new Set(),
      compactedRevision: 0,
    };
    this.#tables.set(resource, table);
    return table;
  }
}

function keyOfObject(object: JsonObject): string {
  const { namespace, name } = metadataOf(object);
  return keyOf(namespace, name ?? '');
}
