/** The pods among the objects of an API server. */
import type { KubeObject } from '../../kube/reflector.ts';
import type { SourceProblem } from '../../machines/shared/events.ts';
import { readApiPod, withOtherStatus } from '../../pod/api/apiPod.ts';
import { readMirror, type SeenMirror } from '../../pod/mirror.ts';
import type { Clock } from '../clock.ts';
import type { ManifestSet } from '../sources/manifestSet.ts';

/** A pod to run, or a mirror, which shows what the node runs by itself and is never run, whoever has made it. */
type Read = ReturnType<typeof readApiPod> | { readonly mirror: SeenMirror };

/** A version of an object, and what it was read as. */
type Known = readonly [object: KubeObject, read: Read];

/**
 * Reads objects, each once: what has not changed at the server stays the same pod. Of one that has only another status, as
 * with each word of the node's own, the rest is not read again.
 */
export class PodReader {
  readonly #clock: Pick<Clock, 'now'>;
  /** By UID. */
  #known: ReadonlyMap<string, Known> = new Map();
  /** When each pod was first seen, by its UID. */
  #seen = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  read(objects: readonly KubeObject[]): { readonly set: ManifestSet; readonly mirrors: readonly SeenMirror[] } {
    const known = new Map(objects.map((object) => [object.metadata.uid, [object, this.#readOne(object)]] as const));
    this.#known = known;
    for (const uid of this.#seen.keys()) if (!known.has(uid)) this.#seen.delete(uid);
    const all = [...known.values()];
    const set = {
      pods: all.flatMap(([, read]) => ('pod' in read ? [read.pod] : [])),
      problems: all.flatMap(([object, read]) => ('problems' in read ? problemsOf(object, read.problems) : [])),
      warnings: [],
    };
    return { set, mirrors: all.flatMap(([, read]) => ('mirror' in read ? [read.mirror] : [])) };
  }

  #readOne(object: KubeObject): Read {
    const { uid } = object.metadata;
    const [before, read] = this.#known.get(uid) ?? [];
    if (before === object && read !== undefined) return read;
    const mirror = readMirror(object);
    if (mirror !== undefined) return { mirror };
    const seenAt = this.#seen.get(uid) ?? this.#clock.now();
    this.#seen.set(uid, seenAt);
    const pod = read && 'pod' in read ? withOtherStatus({ object: before, pod: read.pod }, object) : undefined;
    return pod === undefined ? readApiPod(object, seenAt) : { pod };
  }
}

function problemsOf(object: KubeObject, problems: readonly { readonly path: string; readonly message: string }[]) {
  const { namespace, name } = object.metadata;
  const pod = `${String(namespace)}/${String(name)}`;
  return problems.map(({ path, message }): SourceProblem => ({ file: `pod ${pod}`, path, message, pod }));
}
