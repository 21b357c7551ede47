/** Parses the API server's objects as pods. */

import type { Clock } from '../../../base/clock.ts';
import { retainKeys } from '../../../base/retainKeys.ts';
import { sameValue } from '../../../base/sameValue.ts';
import { atOnce, overTurns } from '../../../base/steps.ts';
import type { KubeObject } from '../../../kubeclient/reflector.ts';
import { readApiPodInSteps, withReadableUpdates, withReusedSpec } from '../../../kubernetes/api/apiPod.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type ObservedMirror, readMirror } from '../../../kubernetes/mirror.ts';
import { foreignConditions } from '../../../kubernetes/status/conditions.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import type { SourceProblem } from '../../../machines/shared/events.ts';
import type { ManifestSet } from '../../sources/manifest/manifestSet.ts';

/**
 * A pod to run, or a mirror pod, which only represents a static pod and is never run, regardless of who created it. If
 * there are problems, the pod is the last readable version.
 */
type ReadResult = { readonly pod?: Pod; readonly problems?: readonly Problem[] } | { readonly mirror: ObservedMirror };

/** A version of an object with the result of reading it. */
type ReadVersion = readonly [object: KubeObject, read: ReadResult];

/**
 * Reads each version of an object once. An unchanged object results in the same pod, and so does an object that only
 * echoes the node's own status. If only the status has changed, only the status is read again.
 */
export class PodReader {
  readonly #clock: Pick<Clock, 'now' | 'turns'>;
  /** Keyed by UID. */
  readonly #versions = new Map<string, ReadVersion>();
  /** Time at which each pod was first read, by UID. */
  readonly #firstSeenAt = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now' | 'turns'>) {
    this.#clock = clock;
  }

  /**
   * Reads an object over several turns of the event loop, because a large pod takes a while. `read` then returns the
   * result. Returns undefined in simulated time, in which reading takes no time.
   */
  prepare(object: KubeObject): Promise<unknown> | undefined {
    const { turns } = this.#clock;
    return turns && overTurns(this.#readInSteps(object), 1, async () => turns.next());
  }

  read(objects: readonly KubeObject[]): { readonly set: ManifestSet; readonly mirrors: readonly ObservedMirror[] } {
    // This loop runs for every event of the watch, so avoid intermediate arrays.
    const [pods, problems, mirrors] = [[] as Pod[], [] as SourceProblem[], [] as ObservedMirror[]];
    for (const object of objects) {
      const read = this.#readCached(object);
      if ('mirror' in read) mirrors.push(read.mirror);
      else {
        if (read.pod !== undefined) pods.push(read.pod);
        if (read.problems !== undefined) problems.push(...problemsOf(object, read.problems));
      }
    }
    if (this.#versions.size > objects.length) this.#retainOnly(new Set(objects.map(({ metadata: { uid } }) => uid)));
    return { set: { pods, problems, warnings: [] }, mirrors };
  }

  #retainOnly(uids: ReadonlySet<string>): void {
    retainKeys(this.#versions, uids);
    retainKeys(this.#firstSeenAt, uids);
  }

  #readCached(object: KubeObject): ReadResult {
    return atOnce(this.#readInSteps(object));
  }

  *#readInSteps(object: KubeObject): Generator<void, ReadResult> {
    const cached = this.#versions.get(object.metadata.uid);
    if (cached?.[0] === object) return cached[1];
    const read = yield* this.#readVersion(object, cached);
    this.#versions.set(object.metadata.uid, [object, read]);
    return read;
  }

  *#readVersion(object: KubeObject, [before, read]: ReadVersion | [] = []): Generator<void, ReadResult> {
    const mirror = readMirror(object);
    if (mirror !== undefined) return { mirror };
    const lastRead = read && 'mirror' in read ? undefined : read;
    const pod =
      lastRead?.pod && !lastRead.problems ? withReusedSpec({ object: before, pod: lastRead.pod }, object) : undefined;
    if (lastRead?.pod === undefined || pod === undefined) return yield* this.#readAll(object, lastRead?.pod);
    return { pod: isEcho(lastRead.pod, pod) ? lastRead.pod : pod };
  }

  /**
   * Reads an object and falls back to the last readable version, because a field of a newer server must not terminate a
   * running pod.
   */
  *#readAll(object: KubeObject, lastPod: Pod | undefined): Generator<void, ReadResult> {
    const { uid } = object.metadata;
    const seenAt = this.#firstSeenAt.get(uid) ?? this.#clock.now();
    this.#firstSeenAt.set(uid, seenAt);
    const read = yield* readApiPodInSteps(object, seenAt);
    return 'problems' in read && lastPod !== undefined ? { ...read, pod: withReadableUpdates(lastPod, object) } : read;
  }
}

/** Whether a newer version has no change that the node did not make itself. A terminal status is always relevant. */
function isEcho(before: Pod, pod: Pod): boolean {
  if ([before, pod].some(({ status }) => isTerminalPhase(status?.phase))) return false;
  return (
    sameValue(foreignConditions(before) ?? [], foreignConditions(pod) ?? []) &&
    sameValue(deletionOf(before), deletionOf(pod))
  );
}

const deletionOf = ({ metadata: { deletionTimestamp, deletionGracePeriodSeconds, generation } }: Pod) => ({
  deletionTimestamp,
  deletionGracePeriodSeconds,
  generation,
});

function problemsOf(object: KubeObject, problems: readonly Problem[]) {
  const { namespace, name, uid, deletionTimestamp } = object.metadata;
  const pod = `${String(namespace)}/${String(name)}`;
  // A pod that is being deleted is no longer wanted, so its containers stop even if the object is unreadable.
  const owner = deletionTimestamp === undefined ? { pod, uid } : { pod };
  return problems.map(({ path, message }): SourceProblem => ({ file: `pod ${pod}`, path, message, ...owner }));
}
