/** What was done to a node from outside: what the invariants hold its agent's own deeds against. */

import { Touches } from '../checks/touches.ts';
import type { Manifest } from '../stories/manifests.ts';

/** The UID that a node makes of a manifest that names none: another manifest is another pod. */
export const OF_ITS_MANIFEST = /^[0-9a-f]{32}$/;

interface WantedPod {
  readonly file?: string;
  readonly uid?: string | undefined;
  readonly manifest?: Manifest;
}

/** No pod has this name. */
const ALL = '*';

export class Deeds {
  readonly #wanted = new Map<string, readonly string[]>();
  /** The UIDs that their manifests name, or named last. */
  readonly #uids = new Map<string, string | undefined>();
  /** The manifests that each pod has had so far under its UID, also while nobody wanted it: no agent need have seen that. */
  readonly #versions = new Map<string, readonly Manifest[]>();
  readonly #touched = new Touches();
  #touchedAt = 0;
  readonly #touchedContainers = new Touches();
  readonly #reborn = new Map<string, number>();
  /** The UIDs of the pods that have ended with their node, or that the API server was told to have ended. */
  readonly #ended = new Set<string>();

  /** The full names of the pods whose manifests are there. */
  get wanted(): ReadonlyMap<string, unknown> {
    return this.#wanted;
  }

  /** The files that have the manifest of a pod; none where a URL lists it. */
  filesOf(pod: string): readonly string[] {
    return this.#wanted.get(pod) ?? [];
  }

  /** The manifests of a pod, the present one last; before that those in whose place it is, of the same UID. */
  versionsOf(pod: string): readonly Manifest[] {
    return this.#versions.get(pod) ?? [];
  }

  /** `file`: where the manifest is, unless the pod has files already; `uid`: what the manifest names. */
  want(pod: string, { file, uid, manifest }: WantedPod = {}): void {
    const before = uid !== undefined && this.#uids.get(pod) === uid ? this.versionsOf(pod) : [];
    this.#versions.set(pod, manifest === undefined ? before : [...before, manifest]);
    this.#wanted.set(pod, this.#wanted.get(pod) ?? (file === undefined ? [] : [file]));
    this.#uids.set(pod, uid);
  }

  /** Whether the pod of this UID may be the one that is wanted: a node makes the UID of a manifest without one. */
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

  /** Notes that a pod is, or was for a while, not the one that it was, by the time that no jump of the clock changes. */
  beginAnew(pod: string, at: number): void {
    this.#reborn.set(pod, Math.max(this.#reborn.get(pod) ?? at, at));
  }

  /** Whether it may begin from its beginning, because of what was done since then. */
  isRebornSince(pod: string, at: number): boolean {
    return (this.#reborn.get(pod) ?? at - 1) >= at;
  }

  /** Notes that somebody ends these pods of an API server for good, whatever their containers say. */
  end(uids: readonly string[]): void {
    for (const uid of uids) this.#ended.add(uid);
  }

  isEnded(uid: string): boolean {
    return this.#ended.has(uid);
  }

  /** Notes that somebody else than the agent did something to a pod, at a time or until then, which no jump changes. */
  touch(pod: string, at: number): void {
    this.#touchedAt = Math.max(this.#touchedAt, at);
    this.#touched.add(pod, at);
  }

  /** When that was last. */
  get touchedAt(): number {
    return this.#touchedAt;
  }

  /** The same of one of its containers, by its name. */
  touchContainer(pod: string, container: string, at: number): void {
    this.#touchedContainers.add(`${pod} ${container}`, at);
  }

  /** The same of what may concern any pod. */
  touchAll(at: number): void {
    this.#touched.add(ALL, at);
  }

  /** Whether what was done since then to a pod, or to all, is a reason for what becomes of it now. */
  isTouchedSince(pod: string, at: number, now: number): boolean {
    return [ALL, pod].some((each) => this.#touched.mayActSince(each, at, now));
  }

  /** The same of what was done to one of its containers. */
  isContainerTouchedSince(pod: string, container: string, at: number, now: number): boolean {
    return this.#touchedContainers.mayActSince(`${pod} ${container}`, at, now);
  }
}
