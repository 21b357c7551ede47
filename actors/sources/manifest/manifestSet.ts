import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { collectAdmittedPods, type RuntimeClasses } from '../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import type { SourceProblem } from '../../../machines/shared/events/events.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import { createRestoredText, EMPTY_PARSED_TEXT, listPods, type ParsedText, updateText } from '../textDocuments.ts';
import type { ReadManifests } from './manifestReader.ts';
import { type DocumentHolders, resolveTexts } from './resolveTexts.ts';

/** The current full set of a source's pods, with the problems and warnings of its manifests. */
export interface ManifestSet {
  readonly pods: readonly Pod[];
  readonly problems: readonly SourceProblem[];
  readonly warnings: readonly SourceProblem[];
  /**
   * Set if any file has not been read since the agent started. In this case, running pods may be missing from the set.
   */
  readonly isPartial?: true;
}

/** Details of a source's set of pods that are not sent to actors. */
export interface SourceDetails {
  /** Paths of the pods' files, keyed by UID. */
  readonly files: ReadonlyMap<string, string>;
  /** The ConfigMaps and Secrets of the source. */
  readonly objects: readonly LocalObject[];
}

/**
 * The last valid version of a manifest, persisted across restarts. It only contains pods, because Secrets must not be
 * written to disk.
 */
export interface StoredManifest {
  readonly pods: readonly Pod[];
  /**
   * Digest of the node's name and of the file content that yielded exactly these pods. Undefined if the file must be
   * parsed again.
   */
  readonly digest?: string | undefined;
}

/** A change of a persisted manifest. Null removes it. */
export interface ManifestToStore {
  readonly file: string;
  readonly manifest: StoredManifest | null;
}

export interface FileContent {
  readonly text: string;
  /** Permission bits. Undefined if unknown. */
  readonly mode?: number | undefined;
}

interface FileEntry {
  readonly parsedText: ParsedText;
  /** The last valid version of the manifest, as persisted. */
  readonly storedManifest?: StoredManifest | undefined;
  /** Digest of the file content that was last read, even if it was invalid. */
  readonly readDigest?: string;
  readonly mode?: number | undefined;
  /** Whether parsing was postponed, because the file content has not changed since before the restart. */
  readonly isPostponed?: boolean;
  /** The RuntimeClasses in effect when a pod was rejected. The pod may be admitted if the classes change. */
  readonly rejectedBy?: RuntimeClasses;
}

export interface ManifestFilesOptions {
  readonly nodeName: string;
  readonly isLenient: boolean;
  /** The manifest directory or file. */
  readonly path: string;
  /** The last valid version of each manifest from before a restart, keyed by file. */
  readonly storedManifests: ReadonlyMap<string, StoredManifest>;
  /** The last valid versions of the objects that pods use, from before a restart, keyed by file. */
  readonly lastObjects?: ReadonlyMap<string, readonly ConfigObject[]>;
  readonly readManifests: ReadManifests;
  /** Yields to other tasks of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** Called with each change of a persisted manifest before the resulting set of pods is published. */
  readonly onManifest: (change: ManifestToStore) => void;
}

/** Permission bits of group and others. */
const NON_OWNER_BITS = 0o077;

/** Parses the files of a source. An invalid document is replaced by its last valid version. */
export class ManifestFiles {
  readonly #entries = new Map<string, FileEntry>();
  readonly #options: ManifestFilesOptions;
  #hasChanged = true;
  /**
   * Reasons why files, or the whole source, are currently unreadable. Keyed by the path of the file or, for the whole
   * source, by the operation that failed.
   */
  readonly #unreadableByPath = new Map<string, SourceProblem>();
  readonly #noticesByPath = new Map<string, SourceProblem>();
  /**
   * The document that provides each pod and object. If two documents define the same pod or object, the one that
   * already provides it is retained.
   */
  #documentHolders: DocumentHolders = new Map();
  #details: SourceDetails = { files: new Map(), objects: [] };

  constructor(options: ManifestFilesOptions) {
    this.#options = options;
    const { storedManifests, lastObjects = new Map() } = options;
    for (const file of new Set([...storedManifests.keys(), ...lastObjects.keys()])) {
      const storedManifest = storedManifests.get(file);
      this.#entries.set(file, {
        parsedText: createRestoredText(storedManifest?.pods ?? [], lastObjects.get(file)),
        storedManifest,
      });
    }
  }

  /**
   * Updates the content of a file. Unchanged content has no effect, unless a pod was rejected and the RuntimeClasses
   * have changed. Content that yielded the persisted pods is not parsed on the first call, because running pods must be
   * adopted without delay. The second call parses it to find its problems and warnings. `seenAt` is in milliseconds
   * since the epoch.
   */
  async update(file: string, { text, mode }: FileContent, seenAt: number, classes?: RuntimeClasses): Promise<void> {
    const previousEntry = this.#entries.get(file);
    const { nodeName, isLenient, readManifests, nextTurn } = this.#options;
    const digest = hash('sha256', `${nodeName}\n${text}`);
    const { rejectedBy } = previousEntry ?? {};
    if (previousEntry?.readDigest === digest && (rejectedBy === undefined || isDeepStrictEqual(rejectedBy, classes)))
      return this.#updateMode(file, previousEntry, mode);
    if (
      previousEntry?.readDigest === undefined &&
      previousEntry?.storedManifest?.digest === digest &&
      !previousEntry.isPostponed
    ) {
      this.#entries.set(file, { ...previousEntry, isPostponed: true });
      return;
    }
    const previousText = previousEntry?.parsedText ?? EMPTY_PARSED_TEXT;
    const admissionContext = {
      ...(classes ? { classes } : {}),
      admittedPods: collectAdmittedPods(listPods(previousText)),
    };
    const origin = {
      source: 'file',
      origin: file,
      nodeName,
      firstSeenAt: seenAt,
      ...admissionContext,
      isLenient,
    } as const;
    const parsedText = await updateText(previousText, await readManifests({ text, kind: 'file', origin }), nextTurn);
    this.#hasChanged = true;
    const isRejectedByClass = classes && parsedText.problems.some(({ isRejectedByClass }) => isRejectedByClass);
    const rejectionFields = isRejectedByClass ? { rejectedBy: classes } : {};
    this.#entries.set(file, {
      ...rejectionFields,
      storedManifest: previousEntry?.storedManifest,
      mode,
      parsedText,
      readDigest: digest,
    });
  }

  /** Updates the mode of a file, which may change without the content. */
  #updateMode(file: string, before: FileEntry, mode: number | undefined): void {
    if (before.mode === mode) return;
    this.#entries.set(file, { ...before, mode });
    this.#hasChanged = true;
  }

  /** Records that a file or the whole source cannot be read. The last valid version stays in use. */
  setUnreadable(key: string, problem: SourceProblem): void {
    this.#unreadableByPath.set(key, problem);
    this.#hasChanged = true;
  }

  /** Sets a notice about a readable path, or removes it if `message` is undefined. */
  setNotice(file: string, message?: string): void {
    if (this.#noticesByPath.get(file)?.message === message) return;
    if (message === undefined) this.#noticesByPath.delete(file);
    else this.#noticesByPath.set(file, { file, path: '', message });
    this.#hasChanged = true;
  }

  /** Records that a file or the whole source can be read again. */
  setReadable(key: string): void {
    if (this.#unreadableByPath.delete(key)) this.#hasChanged = true;
  }

  /** Removes a file with its pods and objects. Its problems are removed by `setReadable`. */
  remove(file: string): void {
    const previousEntry = this.#entries.get(file);
    if (!this.#entries.delete(file)) return;
    this.#hasChanged = true;
    if (previousEntry?.storedManifest !== undefined) this.#options.onManifest({ file, manifest: null });
  }

  /** Removes all files that are not in `present`. */
  retainOnly(present: ReadonlySet<string>): void {
    for (const file of this.#entries.keys()) if (!present.has(file)) this.remove(file);
  }

  /**
   * Returns the set of pods initially and once after each change. Returns undefined if nothing has changed since the
   * last call.
   */
  takeChangedSet(): ManifestSet | undefined {
    if (!this.#hasChanged) return undefined;
    this.#hasChanged = false;
    const entries = [...this.#entries].sort(([first], [second]) => (first < second ? -1 : 1));
    const parsedTexts = new Map(entries.map(([file, { parsedText }]) => [file, parsedText]));
    const resolvedTexts = resolveTexts(parsedTexts, this.#documentHolders, {
      textNoun: 'file',
      searchedLocation: this.#options.path,
    });
    this.#documentHolders = resolvedTexts.documentHolders;
    this.#details = { files: resolvedTexts.fileOf, objects: resolvedTexts.objects };
    for (const [file, entry] of entries)
      this.#storeManifest(file, { ...entry, parsedText: resolvedTexts.updatedTexts.get(file) ?? EMPTY_PARSED_TEXT });
    return {
      pods: resolvedTexts.pods,
      problems: [...this.#unreadableByPath.values(), ...resolvedTexts.problems],
      warnings: [
        ...this.#noticesByPath.values(),
        ...resolvedTexts.warnings,
        ...entries.flatMap(([file, entry]) => exposedSecretWarnings(file, entry)),
      ],
    };
  }

  /** Returns the details of the set of pods that was returned last. */
  details(): SourceDetails {
    return this.#details;
  }

  /** Stores the last valid version of a manifest if it has changed. */
  #storeManifest(file: string, entry: FileEntry): void {
    const { storedManifest, readDigest } = entry;
    // For an unread file, only the stored version is available.
    const manifest = readDigest === undefined ? storedManifest : createStoredManifest(entry, readDigest);
    this.#entries.set(file, { ...entry, storedManifest: manifest });
    if (!isSameManifest(manifest, storedManifest)) this.#options.onManifest({ file, manifest: manifest ?? null });
  }
}

/**
 * Returns the version to store. It only includes a digest if the file contains nothing but these pods, in which case
 * the next agent may postpone parsing the file.
 */
function createStoredManifest({ parsedText, storedManifest }: FileEntry, digest: string): StoredManifest | undefined {
  const pods = listPods(parsedText);
  if (pods.length === 0) return undefined;
  const documents = [...parsedText.documents.values()];
  const hasOnlyThesePods =
    parsedText.problems.length === 0 && documents.every(({ pendingPod }) => pendingPod?.requiredObjects.length === 0);
  if (hasOnlyThesePods) return { pods, digest };
  return storedManifest && hasSamePods(storedManifest.pods, pods) ? storedManifest : { pods };
}

const isSameManifest = (first: StoredManifest | undefined, second: StoredManifest | undefined): boolean =>
  first?.digest === second?.digest && hasSamePods(first?.pods ?? [], second?.pods ?? []);

const hasSamePods = (first: readonly Pod[], second: readonly Pod[]): boolean =>
  first.length === second.length && first.every((pod, index) => pod === second[index]);

/** Warns about a Secret in a file that users other than the file's owner may read. */
function exposedSecretWarnings(file: string, { parsedText, mode }: FileEntry): SourceProblem[] {
  const containsSecret = [...parsedText.documents.values()].some(({ object }) => object?.kind === 'Secret');
  if (!containsSecret || mode === undefined || (mode & NON_OWNER_BITS) === 0) return [];
  const octalMode = (mode & 0o7777).toString(8).padStart(4, '0');
  return [
    {
      file,
      path: '',
      message: `contains a Secret and has mode ${octalMode}, so that others may read it; use mode 0600`,
    },
  ];
}
