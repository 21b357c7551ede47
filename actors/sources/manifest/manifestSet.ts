import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { admissionsOf, type RuntimeClasses } from '../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import type { SourceProblem } from '../../../machines/shared/events.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import { EMPTY_TEXT, podsIn, type StandingText, takenIn, textOf } from '../textDocuments.ts';
import type { ReadManifests } from './manifestReader.ts';
import { type Holders, settled } from './settledTexts.ts';

/** The full set of a source's pods, why what else there is gives none, and what is odd, all as it is now. */
export interface ManifestSet {
  readonly pods: readonly Pod[];
  readonly problems: readonly SourceProblem[];
  readonly warnings: readonly SourceProblem[];
  /** Something has not been read since the start, and may hold pods that run. */
  readonly isPartial?: true;
}

/** What a source has beside its set: nothing of it is told to actors. */
export interface Beside {
  /** The file of each pod, by uid. */
  readonly files: ReadonlyMap<string, string>;
  /** What its pods may name. */
  readonly objects: readonly LocalObject[];
}

/** The last good version of a file, as it is kept over a restart: of its pods alone, for no Secret may come to rest on a disk. */
export interface GoodManifest {
  readonly pods: readonly Pod[];
  /** Of the text that gave the pods and nothing else, and of the node's name; absent: it is to be read in any case. */
  readonly digest?: string | undefined;
}

/** What is to be kept of a file from now on; null: nothing. */
export interface ManifestToStore {
  readonly file: string;
  readonly manifest: GoodManifest | null;
}

/** What was found in a file, and who may read it. */
export interface FileText {
  readonly text: string;
  /** Its permissions; absent: not known. */
  readonly mode?: number | undefined;
}

interface Entry {
  readonly standing: StandingText;
  /** As it is kept over a restart. */
  readonly kept?: GoodManifest | undefined;
  /** Of the text that was read last, be it good or not. */
  readonly read?: string;
  readonly mode?: number | undefined;
  /** The text was seen to be the one of before the restart, and has yet to be read. */
  readonly isTrusted?: boolean;
  /** With these a pod of the text was refused: others may admit it. */
  readonly refusedBy?: RuntimeClasses;
}

export interface ManifestFilesOptions {
  readonly nodeName: string;
  readonly isLenient: boolean;
  /** The manifest directory or file. */
  readonly path: string;
  /** Last good versions by file, from before a restart. */
  readonly lastGood: ReadonlyMap<string, GoodManifest>;
  /** Last good versions of the objects that pods have in use, by file, from before a restart; absent: there are none. */
  readonly lastObjects?: ReadonlyMap<string, readonly ConfigObject[]>;
  readonly readManifests: ReadManifests;
  /** Lets whoever else waits for the event loop have a turn. */
  readonly nextTurn: () => Promise<void>;
  /** Called before the set that it belongs to. */
  readonly onManifest: (kept: ManifestToStore) => void;
}

/** For everybody but the owner. */
const OTHERS = 0o077;

/** The files of a source as they were last read; what is invalid in a file stands with its last good version. */
export class ManifestFiles {
  readonly #entries = new Map<string, Entry>();
  readonly #options: ManifestFilesOptions;
  #changed = true;
  /** Why files, or the whole source, cannot be read now, and what is odd about reading. */
  readonly #unreadable = new Map<string, SourceProblem>();
  readonly #odd = new Map<string, SourceProblem>();
  /** The documents that were told last: of two that want the same, that which had it keeps it. */
  #holders: Holders = new Map();
  #beside: Beside = { files: new Map(), objects: [] };

  constructor(options: ManifestFilesOptions) {
    this.#options = options;
    const { lastGood, lastObjects = new Map() } = options;
    for (const file of new Set([...lastGood.keys(), ...lastObjects.keys()])) {
      const kept = lastGood.get(file);
      this.#entries.set(file, { standing: textOf(kept?.pods ?? [], lastObjects.get(file)), kept });
    }
  }

  /**
   * Takes in a file's text; the same text as before changes nothing, unless it was refused and the classes have changed
   * since. A text that gave the last good version of before a restart is not read at first, so that what runs is taken
   * over at once: it is the next time, for what this agent may find odd or wrong in it. `seenAt` is in milliseconds
   * since the epoch.
   */
  async update(file: string, { text, mode }: FileText, seenAt: number, classes?: RuntimeClasses): Promise<void> {
    const before = this.#entries.get(file);
    const { nodeName, isLenient, readManifests, nextTurn } = this.#options;
    const digest = hash('sha256', `${nodeName}\n${text}`);
    const { refusedBy } = before ?? {};
    if (before?.read === digest && (refusedBy === undefined || isDeepStrictEqual(refusedBy, classes)))
      return this.#seen(file, before, mode);
    if (before?.read === undefined && before?.kept?.digest === digest && !before.isTrusted) {
      this.#entries.set(file, { ...before, isTrusted: true });
      return;
    }
    const standing = before?.standing ?? EMPTY_TEXT;
    const admitting = { ...(classes ? { classes } : {}), admitted: admissionsOf(podsIn(standing)) };
    const origin = { source: 'file', origin: file, nodeName, seenAt, ...admitting, isLenient } as const;
    const now = await takenIn(standing, await readManifests({ text, kind: 'file', origin }), nextTurn);
    this.#changed = true;
    const isRefused = classes && now.problems.some(({ isOfClass }) => isOfClass);
    const own = { ...(isRefused ? { refusedBy: classes } : {}), kept: before?.kept, mode };
    this.#entries.set(file, { ...own, standing: now, read: digest });
  }

  /** Who may read a file may change without it. */
  #seen(file: string, before: Entry, mode: number | undefined): void {
    if (before.mode === mode) return;
    this.#entries.set(file, { ...before, mode });
    this.#changed = true;
  }

  /** A file or the whole source can not be read: what was good stays, and the cause is told. */
  unreadable(what: string, problem: SourceProblem): void {
    this.#unreadable.set(what, problem);
    this.#changed = true;
  }

  /** Something about reading that stands in nobody's way, or, without a message, that it is over. */
  odd(file: string, message?: string): void {
    if (this.#odd.get(file)?.message === message) return;
    if (message === undefined) this.#odd.delete(file);
    else this.#odd.set(file, { file, path: '', message });
    this.#changed = true;
  }

  /** What could not be read can be read again. */
  readable(what: string): void {
    if (this.#unreadable.delete(what)) this.#changed = true;
  }

  /** Nothing of a file counts any more; what is told of its place is told by whoever looks there. */
  remove(file: string): void {
    const before = this.#entries.get(file);
    if (!this.#entries.delete(file)) return;
    this.#changed = true;
    if (before?.kept !== undefined) this.#options.onManifest({ file, manifest: null });
  }

  /** Removes every file that is not among those present. */
  keepOnly(present: ReadonlySet<string>): void {
    for (const file of this.#entries.keys()) if (!present.has(file)) this.remove(file);
  }

  /** The set, once after each change and at first; undefined when nothing has changed since. */
  take(): ManifestSet | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    const entries = [...this.#entries].sort(([one], [other]) => (one < other ? -1 : 1));
    const texts = new Map(entries.map(([file, { standing }]) => [file, standing]));
    const found = settled(texts, this.#holders, { word: 'file', searched: this.#options.path });
    this.#holders = found.holders;
    this.#beside = { files: found.fileOf, objects: found.objects };
    for (const [file, entry] of entries)
      this.#settle(file, { ...entry, standing: found.texts.get(file) ?? EMPTY_TEXT });
    return {
      pods: found.pods,
      problems: [...this.#unreadable.values(), ...found.problems],
      warnings: [
        ...this.#odd.values(),
        ...found.warnings,
        ...entries.flatMap(([file, entry]) => openSecret(file, entry)),
      ],
    };
  }

  /** What there is beside the set that was told last. */
  beside(): Beside {
    return this.#beside;
  }

  /** Keeps what a file has come to, where that is another than is kept. */
  #settle(file: string, entry: Entry): void {
    const { kept, read } = entry;
    // Of a file that has not been read nothing is known but what is kept.
    const manifest = read === undefined ? kept : goodOf(entry, read);
    this.#entries.set(file, { ...entry, kept: manifest });
    if (!isKept(manifest, kept)) this.#options.onManifest({ file, manifest: manifest ?? null });
  }
}

/** What to keep of a file: by its digest alone the next agent goes only where the text holds nothing but these pods. */
function goodOf({ standing, kept }: Entry, digest: string): GoodManifest | undefined {
  const pods = podsIn(standing);
  if (pods.length === 0) return undefined;
  const documents = [...standing.documents.values()];
  const isWhole = standing.problems.length === 0 && documents.every(({ wanted }) => wanted?.needs.length === 0);
  if (isWhole) return { pods, digest };
  return kept && isEqual(kept.pods, pods) ? kept : { pods };
}

const isKept = (one: GoodManifest | undefined, other: GoodManifest | undefined): boolean =>
  one?.digest === other?.digest && isEqual(one?.pods ?? [], other?.pods ?? []);

const isEqual = (one: readonly Pod[], other: readonly Pod[]): boolean =>
  one.length === other.length && one.every((pod, index) => pod === other[index]);

/** What is secret is so for its owner alone. */
function openSecret(file: string, { standing, mode }: Entry): SourceProblem[] {
  const isSecret = [...standing.documents.values()].some(({ object }) => object?.kind === 'Secret');
  if (!isSecret || mode === undefined || (mode & OTHERS) === 0) return [];
  const shown = (mode & 0o7777).toString(8).padStart(4, '0');
  return [
    { file, path: '', message: `holds a Secret, and has the mode ${shown}: others may read it; it should be 0600` },
  ];
}
