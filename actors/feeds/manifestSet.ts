import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Problem } from '../../pod/problem.ts';
import type { RuntimeClasses } from '../../pod/runtimeClass.ts';
import type { Pod } from '../../pod/schema/pod.ts';
import { parseManifestFile } from './manifestFile.ts';

/** What is wrong or odd in a file; the path is a field's, empty for the whole file. */
export interface FileProblem extends Problem {
  readonly file: string;
}

/** The full set of a source's pods, all that is wrong now, and what was found odd since the set before. */
export interface ManifestSet {
  readonly pods: readonly Pod[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly FileProblem[];
}

/** The last good version of a file, as it is kept over a restart. */
export interface GoodManifest {
  readonly pod: Pod;
  /** Of the text that gave the pod, and of the node's name; absent: not known. */
  readonly digest?: string | undefined;
}

/** What is to be kept of a file from now on; null: nothing. */
export interface KeptManifest {
  readonly file: string;
  readonly manifest: GoodManifest | null;
}

interface Entry extends Partial<GoodManifest> {
  readonly text?: string;
  /** The text was seen to be the one of before the restart, and has yet to be read. */
  readonly isTrusted?: boolean;
  /** With these the text was refused: others may admit it. */
  readonly refusedBy?: RuntimeClasses;
}

/** The files of a source as they were last read; a file that is invalid stands with its last good version. */
export class ManifestFiles {
  readonly #entries = new Map<string, Entry>();
  readonly #nodeName: string;
  readonly #onManifest: (kept: KeptManifest) => void;
  #changed = true;
  /** What is wrong now, by file: with what was read of it last, and with reading it. */
  readonly #problems = new Map<string, readonly FileProblem[]>();
  readonly #unreadable = new Map<string, FileProblem>();
  #warnings: FileProblem[] = [];

  constructor(options: {
    nodeName: string;
    lastGood: ReadonlyMap<string, GoodManifest>;
    onManifest: (kept: KeptManifest) => void;
  }) {
    this.#nodeName = options.nodeName;
    this.#onManifest = options.onManifest;
    for (const [file, manifest] of options.lastGood) this.#entries.set(file, manifest);
  }

  /**
   * Takes in a file's text; the same text as before changes nothing, unless it was refused and the classes have changed
   * since. A text that gave the last good version of before a restart is not read at first, so that what runs is taken
   * over at once: it is the next time, for what this agent may find odd or wrong in it. `seenAt` is in milliseconds
   * since the epoch.
   */
  update(file: string, text: string, seenAt: number, classes: RuntimeClasses = new Map()): void {
    const before = this.#entries.get(file);
    const { refusedBy, pod: admitted } = before ?? {};
    if (before?.text === text && (refusedBy === undefined || isDeepStrictEqual(refusedBy, classes))) return;
    const digest = hash('sha256', `${this.#nodeName}\n${text}`);
    if (before?.text === undefined && before?.digest === digest && !before.isTrusted) {
      this.#entries.set(file, { ...before, isTrusted: true });
      return;
    }
    const origin = { file, nodeName: this.#nodeName, seenAt, classes };
    const read = parseManifestFile(text, { ...origin, ...(admitted ? { admitted } : {}) });
    this.#changed = true;
    if ('problems' in read) {
      this.#entries.set(file, { ...before, text, refusedBy: classes });
      this.#problems.set(
        file,
        read.problems.map((problem) => ({ file, ...problem })),
      );
      return;
    }
    this.#problems.delete(file);
    this.#warnings.push(...read.warnings.map((warning) => ({ file, ...warning })));
    const isSame = before?.pod !== undefined && samePod(before.pod, read.pod);
    const manifest = { pod: isSame ? before.pod : read.pod, digest };
    this.#entries.set(file, { ...manifest, text });
    if (!isSame || before.digest !== digest) this.#onManifest({ file, manifest });
  }

  /** A file or the whole source can not be read: what was good stays, and the cause is told. */
  unreadable(file: string, message: string): void {
    this.#unreadable.set(file, { file, path: '', message });
    this.#changed = true;
  }

  /** What could not be read can be read again. */
  readable(file: string): void {
    this.#unreadable.delete(file);
    this.#changed = true;
  }

  remove(file: string): void {
    const before = this.#entries.get(file);
    this.#problems.delete(file);
    this.#unreadable.delete(file);
    if (!this.#entries.delete(file)) return;
    this.#changed = true;
    if (before?.pod !== undefined) this.#onManifest({ file, manifest: null });
  }

  /** Removes every file that is not among those present. */
  keepOnly(present: ReadonlySet<string>): void {
    for (const file of this.#entries.keys()) if (!present.has(file)) this.remove(file);
  }

  /** The set, once after each change and at first; undefined when nothing has changed since. */
  take(): ManifestSet | undefined {
    if (!this.#changed) return undefined;
    const files = [...this.#entries.keys()].sort();
    const pods = files.flatMap((file) => this.#entries.get(file)?.pod ?? []);
    const problems = [...this.#unreadable.values(), ...[...this.#problems.values()].flat()];
    const set = { pods, problems, warnings: this.#warnings };
    this.#changed = false;
    this.#warnings = [];
    return set;
  }
}

/** Whether two pods differ in nothing but the moment at which their file was seen. */
export function samePod(one: Pod, other: Pod): boolean {
  return isDeepStrictEqual(unseen(one), unseen(other));
}

function unseen({ status: _, ...pod }: Pod): unknown {
  const { 'kubernetes.io/config.seen': _seen, ...annotations } = pod.metadata.annotations ?? {};
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
