/** Parses the API server's objects as pods. */

import { runAllSteps, runStepsInTurns } from '../../../base/async/steps.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { retainKeys } from '../../../base/values/retainKeys.ts';
import type { KubeObject } from '../../../kubeclient/reflector.ts';
import { readApiPodInSteps, withReadableUpdates, withReusedSpec } from '../../../kubernetes/api/pods/apiPod.ts';
import type { Problem } from '../../../kubernetes/api/problem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type ObservedMirror, readMirror } from '../../../kubernetes/mirror.ts';
import { foreignConditions } from '../../../kubernetes/status/conditions.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import type { SourceProblem } from '../../../machines/shared/events/events.ts';
import type { ManifestSet } from '../../sources/manifest/manifestSet.ts';

/**
 * A pod to run, or a mirror pod, which only represents a static pod and is never run, regardless of who created it. If
 * there are problems, the pod is the last readable version.
 */
type ReadResult = { readonly pod?: Pod; readonly problems?: readonly Problem[] } | { readonly mirror: ObservedMirror };

/** A version of an object and the result of parsing it. */
type ReadVersion = readonly [object: KubeObject, read: ReadResult];

/**
 * Parses each version of an object once. An object that is unchanged, or changed only by this node's own status update,
 * yields the same pod. If only the status has changed, only the status is parsed again.
 */
export class PodReader {
  readonly #clock: Pick<Clock, 'now' | 'turns'>;
  /** Keyed by UID. */
  readonly #readVersions = new Map<string, ReadVersion>();
  /** Time at which each pod was first read, by UID. */
  readonly #firstReadAt = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now' | 'turns'>) {
    this.#clock = clock;
  }

  /**
   * Parses an object over several turns of the event loop, because parsing a large pod takes a while. Afterwards,
   * `read` returns the result. Returns undefined in simulated time, in which parsing takes no time.
   */
  prepare(object: KubeObject): Promise<unknown> | undefined {
    const { turns } = this.#clock;
    return turns && runStepsInTurns(this.#readInSteps(object), 1, async () => turns.acquire());
  }

  read(objects: readonly KubeObject[]): { readonly set: ManifestSet; readonly mirrors: readonly ObservedMirror[] } {
    // This loop runs for every event of the watch, so avoid intermediate arrays.
    const [pods, problems, mirrors] = [[] as Pod[], [] as SourceProblem[], [] as ObservedMirror[]];
    for (const object of objects) {
      const result = this.#readCached(object);
      if ('mirror' in result) mirrors.push(result.mirror);
      else {
        if (result.pod !== undefined) pods.push(result.pod);
        if (result.problems !== undefined) problems.push(...describeProblems(object, result.problems));
      }
    }
    if (this.#readVersions.size > objects.length)
      this.#retainUids(new Set(objects.map(({ metadata: { uid } }) => uid)));
    return { set: { pods, problems, warnings: [] }, mirrors };
  }

  #retainUids(uids: ReadonlySet<string>): void {
    retainKeys(this.#readVersions, uids);
    retainKeys(this.#firstReadAt, uids);
  }

  #readCached(object: KubeObject): ReadResult {
    return runAllSteps(this.#readInSteps(object));
  }

  *#readInSteps(object: KubeObject): Generator<void, ReadResult> {
    const cachedVersion = this.#readVersions.get(object.metadata.uid);
    if (cachedVersion?.[0] === object) return cachedVersion[1];
    const result = yield* this.#readVersion(object, cachedVersion);
    this.#readVersions.set(object.metadata.uid, [object, result]);
    return result;
  }

  *#readVersion(object: KubeObject, [before, read]: ReadVersion | [] = []): Generator<void, ReadResult> {
    const mirror = readMirror(object);
    if (mirror !== undefined) return { mirror };
    const lastPodVersion = read && 'mirror' in read ? undefined : read;
    const pod =
      lastPodVersion?.pod && !lastPodVersion.problems
        ? withReusedSpec({ object: before, pod: lastPodVersion.pod }, object)
        : undefined;
    if (lastPodVersion?.pod === undefined || pod === undefined)
      return yield* this.#readAll(object, lastPodVersion?.pod);
    return { pod: isIrrelevantChange(lastPodVersion.pod, pod) ? lastPodVersion.pod : pod };
  }

  /**
   * Parses an object and falls back to the last readable version, so that a field that only newer servers support does
   * not terminate a running pod.
   */
  *#readAll(object: KubeObject, lastPod: Pod | undefined): Generator<void, ReadResult> {
    const { uid } = object.metadata;
    const firstReadAt = this.#firstReadAt.get(uid) ?? this.#clock.now();
    this.#firstReadAt.set(uid, firstReadAt);
    const parsedPod = yield* readApiPodInSteps(object, firstReadAt);
    return 'problems' in parsedPod && lastPod !== undefined
      ? { ...parsedPod, pod: withReadableUpdates(lastPod, object) }
      : parsedPod;
  }
}

/**
 * Whether only this node's own status updates have changed the pod since `before`. A change to a terminal status is
 * always relevant.
 */
function isIrrelevantChange(before: Pod, pod: Pod): boolean {
  if ([before, pod].some(({ status }) => isTerminalPhase(status?.phase))) return false;
  return (
    isJsonEqual(foreignConditions(before) ?? [], foreignConditions(pod) ?? []) &&
    isJsonEqual(unversionedMetadata(before), unversionedMetadata(pod))
  );
}

function unversionedMetadata({ metadata }: Pod): Omit<Pod['metadata'], 'resourceVersion'> {
  const { resourceVersion: _, ...unversioned } = metadata;
  return unversioned;
}

function describeProblems(object: KubeObject, problems: readonly Problem[]) {
  const { namespace, name, uid, deletionTimestamp } = object.metadata;
  const pod = `${String(namespace)}/${String(name)}`;
  // Omit the UID of a pod that is being deleted. A problem that contains the UID would keep the unreadable pod running,
  // but this pod's containers must stop.
  const podFields = deletionTimestamp === undefined ? { pod, uid } : { pod };
  return problems.map(({ path, message }): SourceProblem => ({ file: `pod ${pod}`, path, message, ...podFields }));
}
