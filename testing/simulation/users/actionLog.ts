/** The actions of users and faults of the host, against which the invariants check what the agent does. */

import { CauseTimes } from '../checks/causeTimes.ts';
import type { Manifest } from '../stories/manifests.ts';

/** A UID that the node derives from a manifest without one, so that a changed manifest is a different pod. */
export const DERIVED_UID = /^[0-9a-f]{32}$/;

interface WantedPod {
  readonly file?: string;
  readonly uid?: string | undefined;
  readonly manifest?: Manifest;
}

/** The key for all pods, which is not a valid pod name. */
const ALL_PODS = '*';

export class ActionLog {
  readonly #wanted = new Map<string, readonly string[]>();
  /** The UID in the current or last manifest of each pod. */
  readonly #uids = new Map<string, string | undefined>();
  /**
   * All manifests that each pod has had under its UID, including those before a removal, because an agent may not have
   * noticed the removal.
   */
  readonly #versions = new Map<string, readonly Manifest[]>();
  readonly #podCauses = new CauseTimes();
  #lastCauseAt = 0;
  readonly #containerCauses = new CauseTimes();
  readonly #resetAt = new Map<string, number>();
  /** The UIDs of pods that have terminated with their node, or whose termination was reported to the API server. */
  readonly #ended = new Set<string>();

  /** The pods whose manifests exist, keyed by full name. */
  get wanted(): ReadonlyMap<string, unknown> {
    return this.#wanted;
  }

  /** Returns the files that contain the manifest of a pod. Empty if a URL lists the pod. */
  filesOf(pod: string): readonly string[] {
    return this.#wanted.get(pod) ?? [];
  }

  /** Returns the manifests of a pod, oldest first, including former ones with the same UID. */
  versionsOf(pod: string): readonly Manifest[] {
    return this.#versions.get(pod) ?? [];
  }

  /**
   * Records that users want a pod. `file` is the manifest file, unless the pod has files already. `uid` is the UID in
   * the manifest.
   */
  want(pod: string, { file, uid, manifest }: WantedPod = {}): void {
    const before = uid !== undefined && this.#uids.get(pod) === uid ? this.versionsOf(pod) : [];
    this.#versions.set(pod, manifest === undefined ? before : [...before, manifest]);
    this.#wanted.set(pod, this.#wanted.get(pod) ?? (file === undefined ? [] : [file]));
    this.#uids.set(pod, uid);
  }

  /**
   * Whether the pod with this UID may be the wanted pod of this name. A UID that the node has derived may be that of
   * any manifest without a UID.
   */
  mayBeWanted(pod: string, uid: string): boolean {
    if (!this.#wanted.has(pod)) return false;
    const wanted = this.#uids.get(pod);
    return wanted === undefined ? DERIVED_UID.test(uid) : wanted === uid;
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
    this.noteReset(pod, at);
  }

  /** Records that a pod starts over as a new one at `at`, or may do so until then, in milliseconds of node time. */
  noteReset(pod: string, at: number): void {
    this.#resetAt.set(pod, Math.max(this.#resetAt.get(pod) ?? at, at));
  }

  /** Whether a pod may start over because of an action at or after `at`. */
  mayStartOverSince(pod: string, at: number): boolean {
    return (this.#resetAt.get(pod) ?? at - 1) >= at;
  }

  /** Records that these pods of an API server have terminated for good, whatever the state of their containers. */
  noteEnded(uids: readonly string[]): void {
    for (const uid of uids) this.#ended.add(uid);
  }

  hasEnded(uid: string): boolean {
    return this.#ended.has(uid);
  }

  /** Records that something other than the agent has affected a pod at or until `at`, in milliseconds of node time. */
  noteCause(pod: string, at: number): void {
    this.#lastCauseAt = Math.max(this.#lastCauseAt, at);
    this.#podCauses.add(pod, at);
  }

  /** The latest time passed to `noteCause`. */
  get lastCauseAt(): number {
    return this.#lastCauseAt;
  }

  /** Records that something other than the agent has affected a container at or until `at`. */
  noteContainerCause(pod: string, container: string, at: number): void {
    this.#containerCauses.add(`${pod} ${container}`, at);
  }

  /** Records that something other than the agent has affected all pods at or until `at`. */
  noteGlobalCause(at: number): void {
    this.#podCauses.add(ALL_PODS, at);
  }

  /** Whether an action since `at` may be the cause of a change of the pod now. */
  hasCauseSince(pod: string, at: number, now: number): boolean {
    return [ALL_PODS, pod].some((each) => this.#podCauses.mayHaveEffectSince(each, at, now));
  }

  /** Whether an action since `at` may be the cause of a change of the container now. */
  hasContainerCauseSince(pod: string, container: string, at: number, now: number): boolean {
    return this.#containerCauses.mayHaveEffectSince(`${pod} ${container}`, at, now);
  }
}
