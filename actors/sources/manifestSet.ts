import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SourceProblem } from '../../machines/shared/events.ts';
import type { Problem } from '../../pod/api/problem.ts';
import { admissionsOf, type RuntimeClasses } from '../../pod/api/runtimeClass.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { podUpdate } from '../../pod/lifecycle/update.ts';
import type { ReadManifests } from './manifestReader.ts';

/** The full set of a source's pods, why what else there is gives none, and what is odd, all as it is now. */
export interface ManifestSet {
  readonly pods: readonly Pod[];
  readonly problems: readonly SourceProblem[];
  readonly warnings: readonly SourceProblem[];
  /** Something has not been read since the start, and may hold pods that run. */
  readonly isPartial?: true;
}

/** The last good version of a file, as it is kept over a restart. */
export interface GoodManifest {
  readonly pod: Pod;
  /** Of the text that gave the pod, and of the node's name; absent: not known. */
  readonly digest?: string | undefined;
}

/** What is to be kept of a file from now on; null: nothing. */
export interface ManifestToStore {
  readonly file: string;
  readonly manifest: GoodManifest | null;
}

interface Entry extends Partial<GoodManifest> {
  /** Of the text that was read last, be it good or not. */
  readonly read?: string;
  /** The text was seen to be the one of before the restart, and has yet to be read. */
  readonly isTrusted?: boolean;
  /** With these the text was refused: others may admit it. */
  readonly refusedBy?: RuntimeClasses;
  /** What is wrong with the text that was read last, and what is odd in the good one. */
  readonly problems?: readonly SourceProblem[];
  readonly warnings?: readonly SourceProblem[];
}

export interface ManifestFilesOptions {
  readonly nodeName: string;
  readonly isLenient: boolean;
  readonly lastGood: ReadonlyMap<string, GoodManifest>;
  readonly readManifests: ReadManifests;
  readonly onManifest: (kept: ManifestToStore) => void;
}

/** The files of a source as they were last read; a file that is invalid stands with its last good version. */
export class ManifestFiles {
  readonly #entries = new Map<string, Entry>();
  readonly #options: ManifestFilesOptions;
  #changed = true;
  /** Why files, or the whole source, cannot be read now, and what is odd about reading. */
  readonly #unreadable = new Map<string, SourceProblem>();
  readonly #odd = new Map<string, SourceProblem>();
  /** The files of the pods that were told last, by uid: of two with the same one that which had it keeps it. */
  #holders: ReadonlyMap<string, string> = new Map();

  constructor(options: ManifestFilesOptions) {
    this.#options = options;
    for (const [file, manifest] of options.lastGood) this.#entries.set(file, manifest);
  }

  /**
   * Takes in a file's text; the same text as before changes nothing, unless it was refused and the classes have changed
   * since. A text that gave the last good version of before a restart is not read at first, so that what runs is taken
   * over at once: it is the next time, for what this agent may find odd or wrong in it. `seenAt` is in milliseconds
   * since the epoch.
   */
  async update(file: string, text: string, seenAt: number, classes?: RuntimeClasses): Promise<void> {
    const before = this.#entries.get(file);
    const refusedBy = before?.refusedBy;
    const { nodeName, isLenient, readManifests } = this.#options;
    const digest = hash('sha256', `${nodeName}\n${text}`);
    if (before?.read === digest && (refusedBy === undefined || isDeepStrictEqual(refusedBy, classes))) return;
    if (before?.read === undefined && before?.digest === digest && !before.isTrusted) {
      this.#entries.set(file, { ...before, isTrusted: true });
      return;
    }
    const admitted = admissionsOf(before?.pod ? [before.pod] : []);
    const admitting = { ...(classes ? { classes } : {}), admitted };
    const origin = { source: 'file', origin: file, nodeName, seenAt, ...admitting, isLenient } as const;
    const [manifest] = await readManifests({ text, kind: 'file', origin });
    if (manifest === undefined) return;
    const { read } = manifest;
    this.#changed = true;
    if ('problems' in read) {
      const until = read.refusedByClass ? 'the file or its RuntimeClass changes' : 'the file changes';
      const problems = located(read.problems, { file, until, ...(read.name ? { pod: read.name } : {}) });
      this.#entries.set(file, { ...before, read: digest, ...(classes ? { refusedBy: classes } : {}), problems });
      return;
    }
    const isSame = before?.pod !== undefined && isEcho(before.pod, read.pod);
    const good = { pod: isSame ? before.pod : read.pod, digest };
    this.#entries.set(file, {
      ...good,
      read: digest,
      warnings: located(read.warnings, { file, pod: nameOf(read.pod) }),
    });
    if (!isSame || before.digest !== digest) this.#options.onManifest({ file, manifest: good });
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
    if (before?.pod !== undefined) this.#options.onManifest({ file, manifest: null });
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
    const holders = this.#holdersOf(entries);
    const problems = [...this.#unreadable.values()];
    const warnings = [...this.#odd.values()];
    const pods: Pod[] = [];
    for (const [file, entry] of entries) {
      problems.push(...(entry.problems ?? []));
      if (entry.pod === undefined) continue;
      const holder = holders.get(entry.pod.metadata.uid);
      if (holder !== undefined && holder !== file) {
        problems.push(sameUid(file, entry.pod, holder));
        continue;
      }
      pods.push(entry.pod);
      warnings.push(...(entry.warnings ?? []));
    }
    this.#holders = holders;
    return { pods, problems, warnings };
  }

  /** The files of the pods that were told last, by uid. */
  fileOf(): ReadonlyMap<string, string> {
    return this.#holders;
  }

  #holdersOf(entries: readonly (readonly [file: string, entry: Entry])[]): ReadonlyMap<string, string> {
    const holders = new Map<string, string>();
    for (const [file, { pod }] of entries) {
      if (pod === undefined) continue;
      const { uid } = pod.metadata;
      if (!holders.has(uid) || this.#holders.get(uid) === file) holders.set(uid, file);
    }
    return holders;
  }
}

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

const located = (
  problems: readonly Problem[],
  where: Pick<SourceProblem, 'file' | 'pod' | 'until'>,
): readonly SourceProblem[] => problems.map((problem) => ({ ...where, ...problem }));

/** Two files are two pods, and a uid is one pod's. */
const sameUid = (file: string, pod: Pod, holder: string): SourceProblem => ({
  file,
  path: 'metadata.uid',
  message: `Duplicate value: "${pod.metadata.uid}": already used by the pod of ${holder}`,
  pod: nameOf(pod),
  until: 'one of the two files changes',
});

/** Whether another version of a pod is only an echo: nothing of it is another that its actor would be told of. */
export const isEcho = (before: Pod, after: Pod): boolean =>
  Object.values(podUpdate(before, after)).every((isChanged) => !isChanged);
