/** The ConfigMaps and Secrets of manifests: each source has its own, for its own pods. */
import type { NodeFact } from '../../machines/shared/events.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { sourceOf } from '../../pod/api/staticPod.ts';
import type { ConfigKind, ConfigObject, ConfigReference } from '../../pod/objects/configObject.ts';
import { ObjectNotFound, type ObjectsInUse } from '../../pod/objects/podObjects.ts';
import { referencesOf } from '../../pod/objects/references.ts';
import type { Clock } from '../clock.ts';
import { ObjectNews } from './objectNews.ts';

type ByKey = ReadonlyMap<string, ConfigObject>;

/** What a pod of a source names. */
interface Followed {
  readonly source: string;
  readonly keys: Set<string>;
  /** It was told that its source has not been read. */
  isEarly: boolean;
}

export class LocalObjects implements ObjectsInUse {
  /** Of each source; undefined until it has been read. */
  readonly #sources: Map<string, ByKey | undefined>;
  /** By uid. */
  readonly #pods = new Map<string, Followed>();
  readonly #news: ObjectNews;

  /** `sources` by the names that their pods have of them. */
  constructor(sources: readonly string[], clock: Clock) {
    this.#sources = new Map(sources.map((source) => [source, undefined]));
    this.#news = new ObjectNews(clock, () => []);
  }

  /** Tells which pods see a change, until the signal aborts. */
  begin(send: (fact: NodeFact) => void, signal: AbortSignal): void {
    this.#news.begin(send, signal);
  }

  /** All that a source has now. */
  put(source: string, objects: readonly ConfigObject[]): void {
    const before = this.#sources.get(source);
    const now = new Map(objects.map((object) => [keyOf(object), object]));
    this.#sources.set(source, now);
    const isOther = (key: string) => before?.get(key)?.resourceVersion !== now.get(key)?.resourceVersion;
    const uids: string[] = [];
    for (const [uid, followed] of this.#pods) {
      if (followed.source !== source) continue;
      if (followed.isEarly || [...followed.keys].some(isOther)) uids.push(uid);
      followed.isEarly = false;
    }
    if (uids.length > 0) this.#news.changed(uids);
  }

  follow(pod: Pod): void {
    const { uid, namespace } = pod.metadata;
    const keys = referencesOf(pod).map(({ kind, name }) => keyOf({ kind, namespace, name }));
    const { isEarly = false } = this.#pods.get(uid) ?? {};
    this.#pods.set(uid, { source: sourceOf(pod) ?? '', keys: new Set(keys), isEarly });
  }

  release(uid: string): void {
    this.#pods.delete(uid);
    this.#news.forget(uid);
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
    const object = objects?.get(key);
    if (object === undefined) throw new ObjectNotFound(kind, name);
    return object;
  }
}

const keyOf = ({ kind, namespace, name }: ConfigReference): string => `${kind}/${namespace}/${name}`;
