/** The ConfigMaps and Secrets of manifests: each source has its own, for its own pods. */

import type { Clock } from '../../base/clock.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { isInMemory } from '../../host/files/inMemory.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { sourceOf } from '../../kubernetes/api/staticPod.ts';
import type { ConfigKind, ConfigObject } from '../../kubernetes/objects/configObject.ts';
import { ObjectNotFound, type ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';
import { referencesOf } from '../../kubernetes/objects/references.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { KeptObjects } from './cache/keptObjects.ts';
import { KeptOfSource, keyOf, type LocalObject } from './cache/keptOfSource.ts';
import { ObjectNews } from './objectNews.ts';

type ByKey = ReadonlyMap<string, LocalObject>;

/** What a pod of a source names. */
interface Followed {
  readonly source: string;
  readonly keys: Set<string>;
  /** It was told that its source has not been read. */
  isEarly: boolean;
}

interface LocalParts {
  readonly clock: Clock;
  readonly files: FileSystem;
  /** The UIDs of the pods that have a directory on the node. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

/** The directory, file or URL of each source, by the name that its pods have for the source. */
type SourcePlaces = ReadonlyMap<string, string>;

/**
 * Creates the objects of each source. Below `directory`, which is in memory, the objects that pods use outlive the agent.
 * Undefined if they do not.
 */
export function localObjectsOf(
  sources: SourcePlaces,
  directory: string | undefined,
  { clock, files, listPodDirs, onError }: LocalParts,
): LocalObjects {
  if (directory === undefined) return new LocalObjects(sources, clock);
  const keptOf = (source: string) => {
    const kept = new KeptObjects({ directory: `${directory}-${source}`, files, isInMemory, onError });
    return [source, new KeptOfSource({ kept, listPodDirs, onError })] as const;
  };
  return new LocalObjects(sources, clock, new Map([...sources.keys()].map(keptOf)));
}

export class LocalObjects implements ObjectsInUse {
  /** Of each source; undefined until it has been read. */
  readonly #sources: Map<string, ByKey | undefined>;
  /** By uid. */
  readonly #pods = new Map<string, Followed>();
  readonly #news: ObjectNews;
  readonly #kept: ReadonlyMap<string, KeptOfSource>;
  readonly #places: SourcePlaces;

  /** `kept` has the objects of each source that outlive the agent. */
  constructor(places: SourcePlaces, clock: Clock, kept: ReadonlyMap<string, KeptOfSource> = new Map()) {
    this.#places = places;
    this.#sources = new Map(Array.from(places.keys(), (source) => [source, undefined]));
    this.#news = new ObjectNews(clock, () => []);
    this.#kept = kept;
  }

  /** Tells which pods see a change, until the signal aborts. */
  begin(send: (fact: NodeFact) => void, signal: AbortSignal): void {
    this.#news.begin(send, signal);
  }

  /** What pods of before the start had of a source, by its manifests. Asked for once, before anything of it is put. */
  async left(source: string): Promise<ReadonlyMap<string, readonly ConfigObject[]>> {
    return (await this.#kept.get(source)?.read()) ?? new Map();
  }

  /** All that a source has now. */
  put(source: string, objects: readonly LocalObject[]): void {
    const before = this.#sources.get(source);
    const now = new Map(objects.map((each) => [keyOf(each.object), each]));
    this.#sources.set(source, now);
    const versionIn = (all: ByKey | undefined, key: string) => all?.get(key)?.object.resourceVersion;
    const isOther = (key: string) => versionIn(before, key) !== versionIn(now, key);
    const uids: string[] = [];
    for (const [uid, followed] of this.#pods) {
      if (followed.source !== source) continue;
      if (followed.isEarly || [...followed.keys].some(isOther)) uids.push(uid);
      followed.isEarly = false;
    }
    if (uids.length > 0) this.#news.changed(uids);
    this.#keep(source);
  }

  follow(pod: Pod): void {
    const { uid, namespace } = pod.metadata;
    const keys = referencesOf(pod).map(({ kind, name }) => keyOf({ kind, namespace, name }));
    const { isEarly = false } = this.#pods.get(uid) ?? {};
    const source = sourceOf(pod) ?? '';
    this.#pods.set(uid, { source, keys: new Set(keys), isEarly });
    this.#kept.get(source)?.hear(uid);
    this.#keep(source);
  }

  release(uid: string): void {
    this.#pods.delete(uid);
    this.#news.forget(uid);
    for (const [source, kept] of this.#kept) {
      kept.hear(uid);
      this.#keep(source);
    }
  }

  async get(
    pod: Pod,
    kind: ConfigKind,
    name: string,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<ConfigObject> {
    signal.throwIfAborted();
    const { uid, namespace } = pod.metadata;
    const source = sourceOf(pod) ?? '';
    const key = keyOf({ kind, namespace, name });
    const followed = this.#pods.get(uid);
    followed?.keys.add(key);
    const objects = this.#sources.get(source);
    if (objects === undefined && this.#sources.has(source)) {
      if (followed) followed.isEarly = true;
      throw new Error(`the manifests that ${kind.toLowerCase()} "${name}" may be in have not been read yet`);
    }
    const found = objects?.get(key);
    if (found === undefined) throw new ObjectNotFound(kind, name, this.#places.get(source));
    return found.object;
  }

  /** Nothing is known to have gone before the source has been read. */
  #keep(source: string): void {
    const [kept, objects] = [this.#kept.get(source), this.#sources.get(source)];
    if (kept === undefined || objects === undefined) return;
    const users = new Map(Array.from(objects.keys(), (key) => [key, [] as string[]]));
    for (const [uid, followed] of this.#pods)
      if (followed.source === source) for (const key of followed.keys) users.get(key)?.push(uid);
    kept.keep(new Map(Array.from(objects, ([key, each]) => [key, { ...each, uids: users.get(key) ?? [] }])));
  }
}
