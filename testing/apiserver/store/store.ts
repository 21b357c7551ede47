/** The objects of a test API server, in memory: each write has a revision of the whole, as in etcd. */
import { sameValue } from '../../../base/sameValue.ts';
import type { JsonObject } from '../json.ts';
import { metadataOf, withMetadata } from './metadata.ts';

/** What a write has come to. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** As it is since then; one that is deleted, as it was last, with the revision of its deletion. */
  readonly object: JsonObject;
  /** As it was before that. */
  readonly before: JsonObject | undefined;
}

/** A resource by its group and plural name: `coordination.k8s.io/leases`, `/pods`. */
export type ResourceName = `${string}/${string}`;

interface Table {
  readonly objects: Map<string, JsonObject>;
  /** The changes since the last compaction, the oldest first. */
  readonly changes: Change[];
  readonly watchers: Set<(change: Change) => void>;
  /** The revision up to which changes are forgotten. */
  forgotten: number;
}

const inOrder = (objects: ReadonlyMap<string, JsonObject>) =>
  [...objects].sort(([one], [other]) => (one < other ? -1 : 1));

/** The key of an object within its resource: objects are listed in the order of their keys. */
const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

export class Store {
  readonly #tables = new Map<ResourceName, Table>();
  #revision = 1;

  /** That of the last write. */
  get revision(): number {
    return this.#revision;
  }

  get(resource: ResourceName, namespace: string | undefined, name: string): JsonObject | undefined {
    return this.#table(resource).objects.get(keyOf(namespace, name));
  }

  /** The objects by their keys, in order; as they were at an earlier revision that is not forgotten, if one is given. */
  list(resource: ResourceName, revision = this.#revision): readonly (readonly [key: string, object: JsonObject])[] {
    const { objects, changes } = this.#table(resource);
    if (revision >= this.#revision) return inOrder(objects);
    const then = new Map(objects);
    for (const { revision: at, object, before } of changes.toReversed()) {
      if (at <= revision) break;
      const key = keyOfObject(object);
      if (before === undefined) then.delete(key);
      else then.set(key, before);
    }
    return inOrder(then);
  }

  /** The same, or undefined where that revision is forgotten. */
  listAt(resource: ResourceName, revision: number): ReturnType<Store['list']> | undefined {
    return revision < this.#table(resource).forgotten ? undefined : this.list(resource, revision);
  }

  /** Writes an object, and answers it with its revision; one that stays as it was is not written. */
  put(resource: ResourceName, object: JsonObject): JsonObject {
    const { objects } = this.#table(resource);
    const key = keyOfObject(object);
    const before = objects.get(key);
    const { resourceVersion } = metadataOf(before ?? {});
    if (before && resourceVersion && sameValue(before, withMetadata(object, { resourceVersion }))) return before;
    const written = this.#write(resource, before ? 'MODIFIED' : 'ADDED', object, before);
    objects.set(key, written);
    return written;
  }

  /** Takes an object away, and answers it as it was last, with the revision of that. */
  remove(resource: ResourceName, object: JsonObject): JsonObject {
    const { objects } = this.#table(resource);
    const key = keyOfObject(object);
    const before = objects.get(key);
    objects.delete(key);
    return this.#write(resource, 'DELETED', object, before);
  }

  /** What happened to a resource after a revision; undefined where that is forgotten. */
  changesSince(resource: ResourceName, revision: number): readonly Change[] | undefined {
    if (revision < this.#table(resource).forgotten) return undefined;
    return this.#table(resource).changes.filter((change) => change.revision > revision);
  }

  /** Tells of each change from now on, until the function that it returns is called. */
  watch(resource: ResourceName, onChange: (change: Change) => void): () => void {
    const { watchers } = this.#table(resource);
    watchers.add(onChange);
    return () => void watchers.delete(onChange);
  }

  /** Forgets what happened so far to these resources, or all: whoever has not heard of it has to list anew. */
  compact(resources: Iterable<ResourceName> = this.#tables.keys()): void {
    for (const resource of resources) {
      const table = this.#table(resource);
      table.forgotten = this.#revision;
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
    const table = this.#tables.get(resource) ?? { objects: new Map(), changes: [], watchers: new Set(), forgotten: 0 };
    this.#tables.set(resource, table);
    return table;
  }
}

function keyOfObject(object: JsonObject): string {
  const { namespace, name } = metadataOf(object);
  return keyOf(namespace, name ?? '');
}
