/** The actions of users and faults of the host, against which the invariants check what the agent does. */

import { Touches } from '../checks/touches.ts';
import type { Manifest } from '../stories/manifests.ts';

/** A UID that a node derives from a manifest without one, so that a changed manifest is a different pod. */
export const OF_ITS_MANIFEST = /^[0-9a-f]{32}$/;

interface WantedPod {
  readonly file?: string;
  readonly uid?: string | undefined;
  readonly manifest?: Manifest;
}

/** A key that is no pod name. */
const ALL = '*';

export class Deeds {
  readonly #wanted = new Map<string, readonly string[]>();
  /** The UIDs in the manifests of the pods, or in their last ones. */
  readonly #uids = new Map<string, string | undefined>();
  /**
   * All manifests that each pod has had under its UID, including those before a removal, because an agent may not have
   * noticed the removal.
   */
  readonly #versions = new Map<string, readonly Manifest[]>();
  readonly #touched = new Touches();
  #touchedAt = 0;
  readonly #touchedContainers = new Touches();
  readonly #reborn = new Map<string, number>();
  /** The UIDs of pods that have ended with their node, or whose end was reported to the API server. */
  readonly #ended = new Set<string>();

  /** The pods whose manifests exist, keyed by full name. */
  get wanted(): ReadonlyMap<string, unknown> {
    return this.#wanted;
  }

  /** The files that have the manifest of a pod. Empty if a URL lists it. */
  filesOf(pod: string): readonly string[] {
    return this.#wanted.get(pod) ?? [];
  }

  /** The manifests of a pod, oldest first, including former ones with the same UID. */
  versionsOf(pod: string): readonly Manifest[] {
    return this.#versions.get(pod) ?? [];
  }

  /** `file` is the manifest file, unless the pod has files already. `uid` is the UID in the manifest. */
  want(pod: string, { file, uid, manifest }: WantedPod = {}): void {
    const before = uid !== undefined && this.#uids.get(pod) === uid ? this.versionsOf(pod) : [];
    this.#versions.set(pod, manifest === undefined ? before : [...before, manifest]);
    this.#wanted.set(pod, this.#wanted.get(pod) ?? (file === undefined ? [] : [file]));
    this.#uids.set(pod, uid);
  }

  /** Whether the pod with this UID may be the wanted one, also if the node derives the UID. */
  mayBeWanted(pod: string, uid: string): boolean {
    if (!this.#wanted.has(pod)) return false;
    const wanted = this.#uids.get(pod);
    return wanted === undefined ? OF_ITS_MANIFEST.test(uid) : wanted === uid;
  }

  addFile(pod: string, file: string): void {
    this.#wanted.set(pod, [...this.filesOf(pod), file]);
  }

  moveFile(pod: string, from: string, to: string): void {
    this.#wanted.set(
      pod,
      this.filesOf(pod).map((file) => (file === from ? to : file)),
    );
  }

  unwant(pod: string, at: number): void {
    this.#wanted.delete(pod);
    this.beginAnew(pod, at);
  }

  /** Records that a pod is a new one, or was for a while until `at`, in milliseconds of node time. */
  beginAnew(pod: string, at: number): void {
    this.#reborn.set(pod, Math.max(this.#reborn.get(pod) ?? at, at));
  }

  /** Whether a pod may start over because of an action since `at`. */
  isRebornSince(pod: string, at: number): boolean {
    return (this.#reborn.get(pod) ?? at - 1) >= at;
  }

  /** Records that these pods of an API server have been ended for good, independent of their containers. */
  end(uids: readonly string[]): void {
    for (const uid of uids) this.#ended.add(uid);
  }

  isEnded(uid: string): boolean {
    return this.#ended.has(uid);
  }

  /** Records that something other than the agent has affected a pod at or until `at`, in milliseconds of node time. */
  touch(pod: string, at: number): void {
    this.#touchedAt = Math.max(this.#touchedAt, at);
    this.#touched.add(pod, at);
  }

  /** The time of the last such event. */
  get touchedAt(): number {
    return this.#touchedAt;
  }

  /** Records the same for one container. */
  touchContainer(pod: string, container: string, at: number): void {
    this.#touchedContainers.add(`${pod} ${container}`, at);
  }

  /** Records the same for all pods. */
  touchAll(at: number): void {
    this.#touched.add(ALL, at);
  }

  /** Whether an action since `at` may be the cause of a change of the pod now. */
  isTouchedSince(pod: string, at: number, now: number): boolean {
    return [ALL, pod].some((each) => this.#touched.mayActSince(each, at, now));
  }

  /** Whether an action since `at` may be the cause of a change of the container now. */
  isContainerTouchedSince(pod: string, container: string, at: number, now: number): boolean {
    return this.#touchedContainers.mayActSince(`${pod} ${container}`, at, now);
  }
}
