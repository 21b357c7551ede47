/** Those who write manifests, and what they want because of that. */
import type { Entry } from '../../../actors/boundary.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { NodeFact } from '../../../machines/shared/events.ts';
import type { SimulatedHost } from '../host/host.ts';
import type { SimulationOptions } from '../options.ts';
import { type Manifest, staticPodName } from '../stories/manifests.ts';
import type { Deeds } from './deeds.ts';
import { isOfManifest, validManifest } from './validManifest.ts';

/** A list of manifests may be older than a change, by as long as what it was read from can hang. */
const OLDEST_LIST_MS = 10 * 60_000;

/** A change of a pod that no source has told the agent yet. */
interface Unheard {
  readonly changedAt: number;
  /** Whether it is what is told: a source that was read before the change still tells of what was there then. */
  readonly isToldBy: (told: Pod) => boolean;
}

export class Users {
  readonly #host: SimulatedHost;
  readonly #deeds: Deeds;
  readonly #config: NonNullable<SimulationOptions['config']>;
  /** The manifests that are there now, by the full names of their pods. */
  readonly #pods = new Map<string, Manifest>();
  /** The last changes of pods, by their full names. */
  readonly #unheard = new Map<string, Unheard>();
  /** Those of which a part is there: what they are to replace stands until they are whole. */
  readonly #begun = new Map<string, Manifest>();

  /** The pods in whose file there is something else for a while; `isLost`: an agent may have nothing of them any more. */
  readonly #spoiled = new Map<string, { isLost: boolean }>();

  /** `config`: what the node is told, which decides what it takes, and whether it asks a URL. */
  constructor(host: SimulatedHost, deeds: Deeds, config: SimulationOptions['config'] = {}) {
    this.#host = host;
    this.#deeds = deeds;
    this.#config = config;
  }

  /**
   * Puts the manifest of a pod there, or another in its place; one that a URL lists stays in its list. Throws a `TypeError`
   * where the node would not take it.
   */
  apply(given: object, by?: 'url'): void {
    if (by === 'url' && this.#config.manifestUrl === undefined)
      throw new TypeError('this node has no `manifestUrl`: no pod of a URL can come to it');
    const pod = validManifest(given, this.#config);
    const isListed = by === 'url' || this.#isListed(staticPodName(pod));
    const full = this.#want(pod, isListed ? 'url' : undefined);
    if (isListed) this.#host.manifests.list(full, pod);
    else for (const file of this.#deeds.filesOf(full)) this.#host.manifests.put(file, textOf(pod));
  }

  /**
   * Writes so much of a manifest, from 0 to less than 1, and the rest after a while, unless something else is wanted by
   * then. A part of it is no manifest: what the file held before goes on (`consumeWatchEvent` in
   * pkg/kubelet/config/file_linux.go).
   */
  applyInParts(given: object, share: number, restMs: number): void {
    const pod = validManifest(given, this.#config);
    const full = staticPodName(pod);
    if (this.#isListed(full)) throw new TypeError(`${full}: a URL lists it, its manifest is in no file`);
    if (!this.#deeds.wanted.has(full)) this.#want(pod);
    this.#begun.set(full, pod);
    this.#spoiled.delete(full);
    const [file = ''] = this.#deeds.filesOf(full);
    const text = textOf(pod);
    this.#host.manifests.write(file, text.slice(0, Math.floor(share * text.length)));
    this.#host.clock.setTimeout(() => {
      const [now, ...copies] = this.#deeds.filesOf(full);
      if (this.#begun.get(full) !== pod || now === undefined) return;
      this.#want(pod);
      this.#host.manifests.write(now, text);
      // Else there would be two pods of one name.
      for (const copy of copies) this.#host.manifests.put(copy, text);
    }, restMs);
  }

  /**
   * Spoils the file of a pod for a while, unless something else is done to it by then. What was there before goes on, also
   * with the next agent.
   */
  spoil(pod: string, how: Spoiling, forMs: number): void {
    const [manifest, [file]] = [this.#pods.get(pod), this.#deeds.filesOf(pod)];
    if (manifest === undefined || file === undefined || this.#begun.has(pod)) return;
    const spoiled = { isLost: false };
    this.#spoiled.set(pod, spoiled);
    this.#host.manifests.write(file, spoiledText(manifest, how));
    this.#host.clock.setTimeout(() => {
      if (this.#spoiled.get(pod) === spoiled) this.#heal(pod);
    }, forMs);
  }

  /** Puts whole manifests there again. */
  healAll(): void {
    for (const pod of [...this.#spoiled.keys()]) this.#heal(pod);
  }

  /** Writes something that is no manifest, unless a manifest is there. */
  scribble(file: string, text: string): void {
    if (!this.#isTaken(file)) this.#host.manifests.write(file, text);
  }

  /** Takes the manifest of a pod away, given its full name. */
  remove(pod: string): void {
    if (!this.#deeds.wanted.has(pod)) return;
    const files = this.#deeds.filesOf(pod);
    this.#deeds.unwant(pod, this.#host.clock.elapsed);
    this.#pods.delete(pod);
    this.#begun.delete(pod);
    this.#spoiled.delete(pod);
    this.noteChanged(pod);
    this.#host.manifests.unlist(pod);
    for (const file of files) this.#host.manifests.remove(file);
  }

  /** Gives the manifest of a pod another file: as another static pod of the same name it begins anew. */
  rename(pod: string, file: string): void {
    const [from] = this.#deeds.filesOf(pod);
    // What is spoiled would be lost under another name.
    if (from === undefined || this.#isTaken(file) || this.#spoiled.has(pod)) return;
    this.#host.manifests.rename(from, file);
    this.#deeds.moveFile(pod, from, file);
    this.#begunAnew(pod);
  }

  /** Lets a pod that a URL lists have another name from the next list on: as another pod it begins anew. */
  renameListed(pod: string, name: string): void {
    const { uid: _, ...metadata } = this.#pods.get(pod)?.metadata ?? {};
    const manifest = this.#pods.get(pod);
    if (manifest === undefined || !this.#isListed(pod)) return;
    const renamed = { ...manifest, metadata: { ...metadata, name } };
    if (this.#deeds.wanted.has(staticPodName(renamed))) return;
    this.remove(pod);
    this.apply(renamed, 'url');
  }

  /** Puts the same pod into one more file. */
  copy(pod: string, file: string): void {
    const manifest = this.#pods.get(pod);
    if (manifest === undefined || this.#deeds.filesOf(pod).length === 0 || this.#isTaken(file)) return;
    this.#host.manifests.put(file, textOf(manifest));
    this.#deeds.addFile(pod, file);
    this.#begunAnew(pod);
  }

  /** Notes what enters the agent: it may hear of a change long after that was made, and does then what follows from it. */
  noteHeard({ kind, source, value }: Entry): void {
    if (this.#unheard.size === 0 || kind !== 'fact' || source !== 'sources') return;
    // What enters from a feed is what that has sent.
    const fact = value as NodeFact;
    const { elapsed } = this.#host.clock;
    for (const [pod, { changedAt, isToldBy }] of this.#unheard) {
      if (fact.type !== 'config.podsListed' && !this.#isOf(pod, fact)) continue;
      this.#deeds.touch(pod, elapsed);
      const isTold = fact.type === 'config.podChanged' && fact.change !== 'removed' && isToldBy(fact.pod);
      if (isTold || elapsed - changedAt > OLDEST_LIST_MS) this.#unheard.delete(pod);
    }
  }

  /** The agent is to end all pods: they begin anew when it starts again. */
  drain(): void {
    for (const pod of this.#deeds.wanted.keys()) this.#begunAnew(pod);
    this.#loseSpoiled();
  }

  /** The whole directory is gone for a while. */
  loseDirectory(forMs: number): void {
    const until = this.#host.clock.elapsed + forMs;
    for (const pod of this.#deeds.wanted.keys()) if (this.#deeds.filesOf(pod).length > 0) this.#begunAnew(pod, until);
    this.#host.loseManifests(forMs);
    this.#loseSpoiled();
  }

  #loseSpoiled(): void {
    for (const spoiled of this.#spoiled.values()) spoiled.isLost = true;
  }

  #heal(pod: string): void {
    const manifest = this.#pods.get(pod);
    if (this.#spoiled.get(pod)?.isLost) this.#begunAnew(pod);
    this.#spoiled.delete(pod);
    const [file] = this.#deeds.filesOf(pod);
    if (manifest !== undefined && file !== undefined) this.#host.manifests.put(file, textOf(manifest));
  }

  #want(pod: Manifest, by?: 'url'): string {
    const full = staticPodName(pod);
    this.#pods.set(full, pod);
    this.#begun.delete(full);
    this.#spoiled.delete(full);
    const file = by === 'url' ? {} : { file: this.#freeFile(pod.metadata.name) };
    this.#deeds.want(full, { ...file, uid: pod.metadata.uid, manifest: pod });
    this.noteChanged(full);
    return full;
  }

  /** A file for the pod of a name: another namespace may have a pod of the same name. */
  #freeFile(name: string): string {
    for (let number = 1; ; number += 1) {
      const file = `${name}${number === 1 ? '' : `_${number}`}.json`;
      if (!this.#isTaken(file)) return file;
    }
  }

  /** Whether a pod that is wanted comes from a URL. */
  #isListed(pod: string): boolean {
    return this.#deeds.wanted.has(pod) && this.#deeds.filesOf(pod).length === 0;
  }

  #isTaken(file: string): boolean {
    return [...this.#deeds.wanted.keys()].some((pod) => this.#deeds.filesOf(pod).includes(file));
  }

  /** `at`: until when that lasts, where it does. */
  #begunAnew(pod: string, at = this.#host.clock.elapsed): void {
    this.#deeds.beginAnew(pod, at);
    // It is the same that was told before.
    this.#touch(pod, { changedAt: at, isToldBy: () => false });
  }

  /** Somebody has changed what is wanted of it. */
  noteChanged(pod: string): void {
    const manifest = this.#deeds.wanted.has(pod) ? this.#deeds.versionsOf(pod).at(-1) : undefined;
    const isToldBy = (told: Pod) => manifest === undefined || isOfManifest(told, manifest);
    this.#touch(pod, { changedAt: this.#host.clock.elapsed, isToldBy });
  }

  #touch(pod: string, unheard: Unheard): void {
    this.#deeds.touch(pod, unheard.changedAt);
    this.#unheard.set(pod, unheard);
  }

  /** Whether a source tells of this pod; of one that is gone it tells the UID alone. */
  #isOf(pod: string, fact: NodeFact): boolean {
    if (fact.type !== 'config.podChanged') return false;
    if (fact.change === 'removed') return this.#deeds.mayBeWanted(pod, fact.uid);
    const { namespace, name } = fact.pod.metadata;
    return `${namespace}/${name}` === pod;
  }
}

/** What is wrong with a file: it is empty, cut off, no text at all, or a manifest that is refused. */
export type Spoiling = 'empty' | 'cut' | 'noise' | 'refused';

function spoiledText(pod: Manifest, how: Spoiling): string {
  const whole = textOf(pod);
  const texts: Readonly<Record<Spoiling, string>> = {
    empty: '',
    cut: whole.slice(0, Math.floor(whole.length / 2)),
    noise: '\u0000: [',
    refused: textOf({ ...pod, spec: { ...pod.spec, containers: [] } }),
  };
  return texts[how];
}

const textOf = (pod: Manifest): string => JSON.stringify(pod);
