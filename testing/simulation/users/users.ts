/** The users who write manifests. */
import type { RecordedInput } from '../../../actors/boundary.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import type { SimulatedHost } from '../host/host.ts';
import type { SimulationOptions } from '../options.ts';
import { type Manifest, staticPodName } from '../stories/manifests.ts';
import type { ActionLog } from './actionLog.ts';
import { isOfManifest, validManifest } from './validManifest.ts';

/** Maximum age of a list of manifests that reaches the agent, because a read can hang this long. */
const OLDEST_LIST_MS = 10 * 60_000;

/** A change of a pod that no source has reported to the agent so far. */
interface UnreportedChange {
  readonly changedAt: number;
  /**
   * Whether a reported pod includes the change. A source that was read before the change still reports the former
   * manifest.
   */
  readonly isIncludedIn: (reported: Pod) => boolean;
}

export class Users {
  readonly #host: SimulatedHost;
  readonly #actionLog: ActionLog;
  readonly #config: NonNullable<SimulationOptions['config']>;
  /** The current manifests, keyed by the full names of their pods. */
  readonly #pods = new Map<string, Manifest>();
  /** The last change of each pod that the agent may still react to, keyed by full name. */
  readonly #unreported = new Map<string, UnreportedChange>();
  /** Manifests of which only a part has been written. The former manifests apply until the new ones are complete. */
  readonly #incomplete = new Map<string, Manifest>();

  /** The pods whose files are corrupted. `isLost` is whether the agent may have lost the pod. */
  readonly #corrupted = new Map<string, { isLost: boolean }>();

  /**
   * `config` is the configuration of the node, which decides which manifests it accepts and whether it has a manifest
   * URL.
   */
  constructor(host: SimulatedHost, actions: ActionLog, config: SimulationOptions['config'] = {}) {
    this.#host = host;
    this.#actionLog = actions;
    this.#config = config;
  }

  /**
   * Applies a manifest, replacing any previous one of the same name. A pod that a URL lists stays in that list. Throws
   * a `TypeError` if the node would reject it.
   */
  apply(object: object, by?: 'url'): void {
    if (by === 'url' && this.#config.manifestUrl === undefined)
      throw new TypeError('this node has no `manifestUrl`: no pod of a URL can come to it');
    const pod = validManifest(object, this.#config);
    const isListed = by === 'url' || this.#isListed(staticPodName(pod));
    const full = this.#want(pod, isListed ? 'url' : undefined);
    if (isListed) this.#host.manifests.list(full, pod);
    else for (const file of this.#actionLog.filesOf(full)) this.#host.manifests.put(file, textOf(pod));
  }

  /**
   * Writes a share of a manifest, from 0 to less than 1, and the rest after `restMs`, unless the manifest has been
   * replaced by then. The node ignores the incomplete file and keeps the previous manifest (`consumeWatchEvent` in
   * pkg/kubelet/config/file_linux.go).
   */
  applyInParts(object: object, share: number, restMs: number): void {
    const pod = validManifest(object, this.#config);
    const full = staticPodName(pod);
    if (this.#isListed(full)) throw new TypeError(`${full}: a URL lists it, its manifest is in no file`);
    if (!this.#actionLog.wanted.has(full)) this.#want(pod);
    this.#incomplete.set(full, pod);
    this.#corrupted.delete(full);
    const [file = ''] = this.#actionLog.filesOf(full);
    const text = textOf(pod);
    this.#host.manifests.write(file, text.slice(0, Math.floor(share * text.length)));
    this.#host.clock.setTimeout(() => {
      const [currentFile, ...copies] = this.#actionLog.filesOf(full);
      if (this.#incomplete.get(full) !== pod || currentFile === undefined) return;
      this.#want(pod);
      this.#host.manifests.write(currentFile, text);
      // Otherwise the copies would be a different pod of the same name.
      for (const copy of copies) this.#host.manifests.put(copy, text);
    }, restMs);
  }

  /**
   * Corrupts the file of a pod for `forMs`, unless the file is changed by then. The pod keeps running, even after a
   * restart of the agent.
   */
  corrupt(pod: string, how: Corruption, forMs: number): void {
    const [manifest, [file]] = [this.#pods.get(pod), this.#actionLog.filesOf(pod)];
    if (manifest === undefined || file === undefined || this.#incomplete.has(pod)) return;
    const corruption = { isLost: false };
    this.#corrupted.set(pod, corruption);
    this.#host.manifests.write(file, corruptedText(manifest, how));
    this.#host.clock.setTimeout(() => {
      if (this.#corrupted.get(pod) === corruption) this.#restore(pod);
    }, forMs);
  }

  /** Restores all corrupted manifests. */
  restoreAll(): void {
    for (const pod of [...this.#corrupted.keys()]) this.#restore(pod);
  }

  /** Writes an invalid file, unless the file contains the manifest of a pod. */
  writeInvalidFile(file: string, text: string): void {
    if (!this.#isTaken(file)) this.#host.manifests.write(file, text);
  }

  /** Removes the manifest of a pod, given its full name. */
  remove(pod: string): void {
    if (!this.#actionLog.wanted.has(pod)) return;
    const files = this.#actionLog.filesOf(pod);
    this.#actionLog.unwant(pod, this.#host.clock.elapsed);
    this.#pods.delete(pod);
    this.#incomplete.delete(pod);
    this.#corrupted.delete(pod);
    this.noteChanged(pod);
    this.#host.manifests.unlist(pod);
    for (const file of files) this.#host.manifests.remove(file);
  }

  /** Renames the manifest file of a pod. The pod starts over as a different static pod of the same name. */
  rename(pod: string, file: string): void {
    const [from] = this.#actionLog.filesOf(pod);
    // The node has no previous manifest of a corrupted file under a different name, and would lose the pod.
    if (from === undefined || this.#isTaken(file) || this.#corrupted.has(pod)) return;
    this.#host.manifests.rename(from, file);
    this.#actionLog.moveFile(pod, from, file);
    this.#noteReset(pod);
  }

  /** Renames a pod in the list at the URL, which makes it a different pod. */
  renameListed(pod: string, name: string): void {
    const { uid: _, ...metadata } = this.#pods.get(pod)?.metadata ?? {};
    const manifest = this.#pods.get(pod);
    if (manifest === undefined || !this.#isListed(pod)) return;
    const renamed = { ...manifest, metadata: { ...metadata, name } };
    if (this.#actionLog.wanted.has(staticPodName(renamed))) return;
    this.remove(pod);
    this.apply(renamed, 'url');
  }

  /** Copies the manifest of a pod to an additional file. */
  copy(pod: string, file: string): void {
    const manifest = this.#pods.get(pod);
    if (manifest === undefined || this.#actionLog.filesOf(pod).length === 0 || this.#isTaken(file)) return;
    this.#host.manifests.put(file, textOf(manifest));
    this.#actionLog.addFile(pod, file);
    this.#noteReset(pod);
  }

  /** Records that a source has reported to the agent, which may react to a change long after the user has made it. */
  noteEntry({ kind, source, value }: RecordedInput): void {
    if (this.#unreported.size === 0 || kind !== 'fact' || source !== 'sources') return;
    // Facts of a feed have the type that the feed sends.
    const fact = value as NodeFact;
    const { elapsed } = this.#host.clock;
    for (const [pod, { changedAt, isIncludedIn }] of this.#unreported) {
      if (fact.type !== 'config.podsListed' && !this.#isOf(pod, fact)) continue;
      this.#actionLog.noteCause(pod, elapsed);
      const isReported = fact.type === 'config.podChanged' && fact.change !== 'removed' && isIncludedIn(fact.pod);
      if (isReported || elapsed - changedAt > OLDEST_LIST_MS) this.#unreported.delete(pod);
    }
  }

  /** Records that the agent drains its pods, which start over when the next agent starts. */
  drain(): void {
    for (const pod of this.#actionLog.wanted.keys()) this.#noteReset(pod);
    this.#loseCorrupted();
  }

  /** Removes the whole manifest directory for `forMs`. */
  loseDirectory(forMs: number): void {
    const until = this.#host.clock.elapsed + forMs;
    for (const pod of this.#actionLog.wanted.keys())
      if (this.#actionLog.filesOf(pod).length > 0) this.#noteReset(pod, until);
    this.#host.loseManifests(forMs);
    this.#loseCorrupted();
  }

  #loseCorrupted(): void {
    for (const corruption of this.#corrupted.values()) corruption.isLost = true;
  }

  #restore(pod: string): void {
    const manifest = this.#pods.get(pod);
    if (this.#corrupted.get(pod)?.isLost) this.#noteReset(pod);
    this.#corrupted.delete(pod);
    const [file] = this.#actionLog.filesOf(pod);
    if (manifest !== undefined && file !== undefined) this.#host.manifests.put(file, textOf(manifest));
  }

  #want(pod: Manifest, by?: 'url'): string {
    const full = staticPodName(pod);
    this.#pods.set(full, pod);
    this.#incomplete.delete(full);
    this.#corrupted.delete(full);
    const file = by === 'url' ? {} : { file: this.#freeFile(pod.metadata.name) };
    this.#actionLog.want(full, { ...file, uid: pod.metadata.uid, manifest: pod });
    this.noteChanged(full);
    return full;
  }

  /** Returns a free file name for a pod. A pod in a different namespace may have the same name. */
  #freeFile(name: string): string {
    for (let number = 1; ; number += 1) {
      const file = `${name}${number === 1 ? '' : `_${number}`}.json`;
      if (!this.#isTaken(file)) return file;
    }
  }

  /** Whether a wanted pod comes from the URL. */
  #isListed(pod: string): boolean {
    return this.#actionLog.wanted.has(pod) && this.#actionLog.filesOf(pod).length === 0;
  }

  #isTaken(file: string): boolean {
    return [...this.#actionLog.wanted.keys()].some((pod) => this.#actionLog.filesOf(pod).includes(file));
  }

  /** Records that a pod starts over. `at` is the end of a condition that lasts for a while. */
  #noteReset(pod: string, at = this.#host.clock.elapsed): void {
    this.#actionLog.noteReset(pod, at);
    // The next report contains the same manifest as before.
    this.#noteCause(pod, { changedAt: at, isIncludedIn: () => false });
  }

  /** Records a change of the wanted state of a pod. */
  noteChanged(pod: string): void {
    const manifest = this.#actionLog.wanted.has(pod) ? this.#actionLog.versionsOf(pod).at(-1) : undefined;
    const isIncludedIn = (reported: Pod) => manifest === undefined || isOfManifest(reported, manifest);
    this.#noteCause(pod, { changedAt: this.#host.clock.elapsed, isIncludedIn });
  }

  #noteCause(pod: string, change: UnreportedChange): void {
    this.#actionLog.noteCause(pod, change.changedAt);
    this.#unreported.set(pod, change);
  }

  /** Whether a fact is about this pod. The fact about a removed pod has only the UID. */
  #isOf(pod: string, fact: NodeFact): boolean {
    if (fact.type !== 'config.podChanged') return false;
    if (fact.change === 'removed') return this.#actionLog.mayBeWanted(pod, fact.uid);
    const { namespace, name } = fact.pod.metadata;
    return `${namespace}/${name}` === pod;
  }
}

/** The defects of a corrupted file: empty, truncated, not text, or an invalid manifest. */
export type Corruption = 'empty' | 'cut' | 'noise' | 'refused';

function corruptedText(pod: Manifest, how: Corruption): string {
  const text = textOf(pod);
  const texts: Readonly<Record<Corruption, string>> = {
    empty: '',
    cut: text.slice(0, Math.floor(text.length / 2)),
    noise: '\u0000: [',
    refused: textOf({ ...pod, spec: { ...pod.spec, containers: [] } }),
  };
  return texts[how];
}

const textOf = (pod: Manifest): string => JSON.stringify(pod);
