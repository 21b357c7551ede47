/** The pods among the objects of an API server. */

import type { Clock } from '../../../base/clock.ts';
import { retainKeys } from '../../../base/retainKeys.ts';
import { sameValue } from '../../../base/sameValue.ts';
import type { KubeObject } from '../../../kubeclient/reflector.ts';
import { readApiPod, withChangedStatus, withReadableUpdates } from '../../../kubernetes/api/apiPod.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type ObservedMirror, readMirror } from '../../../kubernetes/mirror.ts';
import { foreignConditions } from '../../../kubernetes/status/conditions.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import type { SourceProblem } from '../../../machines/shared/events.ts';
import type { ManifestSet } from '../../sources/manifest/manifestSet.ts';

/**
 * A pod to run, or a mirror, which shows what the node runs by itself and is never run, whoever has made it. A pod with
 * problems is the last version that could be read.
 */
type Read = { readonly pod?: Pod; readonly problems?: readonly Problem[] } | { readonly mirror: ObservedMirror };

/** A version of an object, and what it was read as. */
type Known = readonly [object: KubeObject, read: Read];

/**
 * Reads objects, each once: what has not changed at the server stays the same pod, and so does one of which the node has
 * nothing to hear, as each word of its own comes back to it. Of one that has only another status the rest is not read again.
 */
export class PodReader {
  readonly #clock: Pick<Clock, 'now'>;
  /** By UID. */
  readonly #known = new Map<string, Known>();
  /** When each pod was first seen, by its UID. */
  readonly #seen = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  read(objects: readonly KubeObject[]): { readonly set: ManifestSet; readonly mirrors: readonly ObservedMirror[] } {
    // Each word of one pod is one of all: this is gone through as often as anything is told.
    const [pods, problems, mirrors] = [[] as Pod[], [] as SourceProblem[], [] as ObservedMirror[]];
    for (const object of objects) {
      const read = this.#readOne(object);
      if ('mirror' in read) mirrors.push(read.mirror);
      else {
        if (read.pod !== undefined) pods.push(read.pod);
        if (read.problems !== undefined) problems.push(...problemsOf(object, read.problems));
      }
    }
    if (this.#known.size > objects.length) this.#forgetAllBut(new Set(objects.map(({ metadata: { uid } }) => uid)));
    return { set: { pods, problems, warnings: [] }, mirrors };
  }

  #forgetAllBut(uids: ReadonlySet<string>): void {
    retainKeys(this.#known, uids);
    retainKeys(this.#seen, uids);
  }

  #readOne(object: KubeObject): Read {
    const known = this.#known.get(object.metadata.uid);
    if (known?.[0] === object) return known[1];
    const read = this.#readAnew(object, known);
    this.#known.set(object.metadata.uid, [object, read]);
    return read;
  }

  #readAnew(object: KubeObject, [before, read]: Known | [] = []): Read {
    const mirror = readMirror(object);
    if (mirror !== undefined) return { mirror };
    const last = read && 'mirror' in read ? undefined : read;
    const pod = last?.pod && !last.problems ? withChangedStatus({ object: before, pod: last.pod }, object) : undefined;
    if (last?.pod === undefined || pod === undefined) return this.#readAll(object, last?.pod);
    return { pod: isEcho(last.pod, pod) ? last.pod : pod };
  }

  /** A newer server may say what nobody here can read: that ends no pod that runs. */
  #readAll(object: KubeObject, last: Pod | undefined): Read {
    const { uid } = object.metadata;
    const seenAt = this.#seen.get(uid) ?? this.#clock.now();
    this.#seen.set(uid, seenAt);
    const read = readApiPod(object, seenAt);
    return 'problems' in read && last !== undefined ? { ...read, pod: withReadableUpdates(last, object) } : read;
  }
}

/** Whether the status of a later version says nothing that counts for the node. Of an end all of it does. */
function isEcho(before: Pod, pod: Pod): boolean {
  if ([before, pod].some(({ status }) => isTerminalPhase(status?.phase))) return false;
  return sameValue(foreignConditions(before) ?? [], foreignConditions(pod) ?? []);
}

function problemsOf(object: KubeObject, problems: readonly Problem[]) {
  const { namespace, name, uid, deletionTimestamp } = object.metadata;
  const pod = `${String(namespace)}/${String(name)}`;
  // Nobody wants one any more that is being deleted: what runs of it ends, read or not.
  const whose = deletionTimestamp === undefined ? { pod, uid } : { pod };
  return problems.map(({ path, message }): SourceProblem => ({ file: `pod ${pod}`, path, message, ...whose }));
}
