import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { admissionsOf, type RuntimeClasses } from '../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import type { SourceProblem } from '../../../machines/shared/events.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import { EMPTY_TEXT, type ParsedText, podsIn, restoredText, updateText } from '../textDocuments.ts';
import type { ReadManifests } from './manifestReader.ts';
import { type Holders, resolveTexts } from './resolveTexts.ts';

/** The current full set of a source's pods, with the problems and warnings of its manifests. */
export interface ManifestSet {
  readonly pods: readonly Pod[];
  readonly problems: readonly SourceProblem[];
  readonly warnings: readonly SourceProblem[];
  /**
   * Whether a file has not been read since the agent started, in which case running pods may be missing from the set.
   */
  readonly isPartial?: true;
}

/** Details of a source's set that are not sent to actors. */
export interface SourceDetails {
  /** Paths of the pods' files, keyed by UID. */
  readonly files: ReadonlyMap<string, string>;
  /** The ConfigMaps and Secrets of the source. */
  readonly objects: readonly LocalObject[];
}

/**
 * The last good version of a manifest, persisted across restarts. It only contains pods, because Secrets must not be
 * written to disk.
 */
export interface GoodManifest {
  readonly pods: readonly Pod[];
  /**
   * Digest of the node's name and of the text that resulted in exactly these pods. Undefined if the text must be read
   * again.
   */
  readonly digest?: string | undefined;
}

/** A change of a persisted manifest. Null removes it. */
export interface ManifestToStore {
  readonly file: string;
  readonly manifest: GoodManifest | null;
}

/** The text of a file and its mode. */
export interface FileText {
  readonly text: string;
  /** Permission bits. Undefined if unknown. */
  readonly mode?: number | undefined;
}

interface Entry {
  readonly parsed: ParsedText;
  /** The persisted version. */
  readonly stored?: GoodManifest | undefined;
  /** Digest of the text that was last read, even if it was invalid. */
  readonly readDigest?: string;
  readonly mode?: number | undefined;
  /** Whether parsing the text was postponed, because the text has not changed since before the restart. */
  readonly isPostponed?: boolean;
  /** The RuntimeClasses with which a pod was rejected. The pod may be admitted with different ones. */
  readonly rejectedBy?: RuntimeClasses;
}

export interface ManifestFilesOptions {
  readonly nodeName: string;
  readonly isLenient: boolean;
  /** The manifest directory or file. */
  readonly path: string;
  /** Last good versions from before a restart, keyed by file. */
  readonly lastGood: ReadonlyMap<string, GoodManifest>;
  /** Last good versions of the objects in use by pods, keyed by file, from before a restart. */
  readonly lastObjects?: ReadonlyMap<string, readonly ConfigObject[]>;
  readonly readManifests: ReadManifests;
  /** Yields to other tasks of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** Called before the set that contains the change is published. */
  readonly onManifest: (change: ManifestToStore) => void;
}

/** Permission bits of everyone except the owner. */
const NON_OWNER_BITS = 0o077;

/** Parses the files of a source. An invalid document is replaced by its last good version. */
export class ManifestFiles {
  readonly #entries = new Map<string, Entry>();
  readonly #options: ManifestFilesOptions;
  #changed = true;
  /** Reasons why a file or the whole source is unreadable at present, keyed by path or activity. */
  readonly #unreadable = new Map<string, SourceProblem>();
  readonly #notices = new Map<string, SourceProblem>();
  /**
   * The documents that provide each pod and object. Of two documents that claim the same one, the current holder wins.
   */
  #holders: Holders = new Map();
  #details: SourceDetails = { files: new Map(), objects: [] };

  constructor(options: ManifestFilesOptions) {
    this.#options = options;
    const { lastGood, lastObjects = new Map() } = options;
    for (const file of new Set([...lastGood.keys(), ...lastObjects.keys()])) {
      const stored = lastGood.get(file);
      this.#entries.set(file, { parsed: restoredText(stored?.pods ?? [], lastObjects.get(file)), stored });
    }
  }

  /**
   * Updates the text of a file. An unchanged text has no effect, unless a pod was rejected and the RuntimeClasses have
   * changed. A text that resulted in the persisted pods is not parsed on the first call, because running pods must be
   * adopted without delay. The second call parses it to find its problems and warnings. `seenAt` is in milliseconds
   * since the epoch.
   */
  async update(file: string, { text, mode }: FileText, seenAt: number, classes?: RuntimeClasses): Promise<void> {
    const before = this.#entries.get(file);
    const { nodeName, isLenient, readManifests, nextTurn } = this.#options;
    const digest = hash('sha256', `${nodeName}\n${text}`);
    const { rejectedBy } = before ?? {};
    if (before?.readDigest === digest && (rejectedBy === undefined || isDeepStrictEqual(rejectedBy, classes)))
      return this.#updateMode(file, before, mode);
    if (before?.readDigest === undefined && before?.stored?.digest === digest && !before.isPostponed) {
      this.#entries.set(file, { ...before, isPostponed: true });
      return;
    }
    const previous = before?.parsed ?? EMPTY_TEXT;
    const admission = { ...(classes ? { classes } : {}), admitted: admissionsOf(podsIn(previous)) };
    const origin = { source: 'file', origin: file, nodeName, seenAt, ...admission, isLenient } as const;
    const parsed = await updateText(previous, await readManifests({ text, kind: 'file', origin }), nextTurn);
    this.#changed = true;
    const isRejected = classes && parsed.problems.some(({ isRejectedByClass }) => isRejectedByClass);
    const rejection = isRejected ? { rejectedBy: classes } : {};
    this.#entries.set(file, { ...rejection, stored: before?.stored, mode, parsed, readDigest: digest });
  }

  /** Updates the mode of a file, which may change without the text. */
  #updateMode(file: string, before: Entry, mode: number | undefined): void {
    if (before.mode === mode) return;
    this.#entries.set(file, { ...before, mode });
    this.#changed = true;
  }

  /** Records that a file or the whole source cannot be read. The last good version stays in use. */
  setUnreadable(key: string, problem: SourceProblem): void {
    this.#unreadable.set(key, problem);
    this.#changed = true;
  }

  /** Sets or, without a message, removes a notice about a path that does not prevent reading it. */
  setNotice(file: string, message?: string): void {
    if (this.#notices.get(file)?.message === message) return;
    if (message === undefined) this.#notices.delete(file);
    else this.#notices.set(file, { file, path: '', message });
    this.#changed = true;
  }

  /** Records that a file or the whole source can be read again. */
  setReadable(key: string): void {
    if (this.#unreadable.delete(key)) this.#changed = true;
  }

  /** Removes a file with its pods and objects. Its problems are removed by `setReadable`. */
  remove(file: string): void {
    const before = this.#entries.get(file);
    if (!this.#entries.delete(file)) return;
    this.#changed = true;
    if (before?.stored !== undefined) this.#options.onManifest({ file, manifest: null });
  }

  /** Removes all files that are not in `present`. */
  retainOnly(present: ReadonlySet<string>): void {
    for (const file of this.#entries.keys()) if (!present.has(file)) this.remove(file);
  }

  /** Returns the set once after each change and initially. Returns undefined if nothing has changed since. */
  takeChangedSet(): ManifestSet | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    const entries = [...this.#entries].sort(([first], [second]) => (first < second ? -1 : 1));
    const texts = new Map(entries.map(([file, { parsed }]) => [file, parsed]));
    const resolved = resolveTexts(texts, this.#holders, { word: 'file', searched: this.#options.path });
    this.#holders = resolved.holders;
    this.#details = { files: resolved.fileOf, objects: resolved.objects };
    for (const [file, entry] of entries)
      this.#store(file, { ...entry, parsed: resolved.texts.get(file) ?? EMPTY_TEXT });
    return {
      pods: resolved.pods,
      problems: [...this.#unreadable.values(), ...resolved.problems],
      warnings: [
        ...this.#notices.values(),
        ...resolved.warnings,
        ...entries.flatMap(([file, entry]) => exposedSecretWarnings(file, entry)),
      ],
    };
  }

  /** Returns the details of the last returned set. */
  details(): SourceDetails {
    return this.#details;
  }

  /** Stores the last good version of a file if it has changed. */
  #store(file: string, entry: Entry): void {
    const { stored, readDigest } = entry;
    // For an unread file, only the stored version is available.
    const manifest = readDigest === undefined ? stored : goodManifest(entry, readDigest);
    this.#entries.set(file, { ...entry, stored: manifest });
    if (!isSameManifest(manifest, stored)) this.#options.onManifest({ file, manifest: manifest ?? null });
  }
}

/**
 * Returns the version to store. It only includes a digest if the text contains nothing but these pods, in which case
 * the next agent may skip parsing the text.
 */
function goodManifest({ parsed, stored }: Entry, digest: string): GoodManifest | undefined {
  const pods = podsIn(parsed);
  if (pods.length === 0) return undefined;
  const documents = [...parsed.documents.values()];
  const isExact = parsed.problems.length === 0 && documents.every(({ wanted }) => wanted?.needs.length === 0);
  if (isExact) return { pods, digest };
  return stored && isSamePods(stored.pods, pods) ? stored : { pods };
}

const isSameManifest = (first: GoodManifest | undefined, second: GoodManifest | undefined): boolean =>
  first?.digest === second?.digest && isSamePods(first?.pods ?? [], second?.pods ?? []);

const isSamePods = (first: readonly Pod[], second: readonly Pod[]): boolean =>
  first.length === second.length && first.every((pod, index) => pod === second[index]);

/** Warns about a Secret in a file that users other than its owner may read. */
function exposedSecretWarnings(file: string, { parsed, mode }: Entry): SourceProblem[] {
  const hasSecret = [...parsed.documents.values()].some(({ object }) => object?.kind === 'Secret');
  if (!hasSecret || mode === undefined || (mode & NON_OWNER_BITS) === 0) return [];
  const octalMode = (mode & 0o7777).toString(8).padStart(4, '0');
  return [
    {
      file,
      path: '',
      message: `contains a Secret and has mode ${octalMode}, so that others may read it; use mode 0600`,
    },
  ];
}
