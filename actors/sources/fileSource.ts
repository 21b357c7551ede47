import { basename, dirname, join } from 'node:path';
import { type Clock, type SteadyClock, steadyClock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { messageOf } from '../../base/failure.ts';
import { retainKeys } from '../../base/retainKeys.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { DirectoryChange, DirectoryWatcher, FileSystem } from '../../host/files/fileSystem.ts';
import type { RuntimeClasses } from '../../kubernetes/api/runtimeClass.ts';
import type { SourceStep } from '../../machines/node/source.ts';
import { createAlarm } from '../alarm.ts';
import { isManifestName, listManifests, locateManifests, type ManifestPlace } from './manifest/manifestDirectory.ts';
import { LARGEST_TEXT } from './manifest/manifestLimits.ts';
import { type Beside, ManifestFiles, type ManifestFilesOptions, type ManifestSet } from './manifest/manifestSet.ts';
import { A_DIRECTORY, type FoundText, isUnread, orAbsent, readTextFile, TooLargeFile } from './yaml/textFile.ts';

const FIRST_RETRY_MS = 1_000;
/** A file that is still being written says so again within this time. */
const SETTLE_MS = 5;
/** And one that was made a moment ago is written within this time. */
const EMPTY_MS = 500;
const NO_RECURSION = `${A_DIRECTORY}: subdirectories of the manifest path are not read`;
/** So many changed files make a set: of many that come at once the first pods start while the others are still read. */
const FILES_AT_ONCE = 8;
/** What may fail beside the single files; no path is like it. */
const LISTING = 'list';
const INOTIFY = 'inotify';
const CLASSES = 'RuntimeClasses';
const NOTHING_THERE = 'no such file or directory: no pods are read from here until it exists';
/** Error codes of readlink on a path that is no link, or that nothing exists at. */
const NOT_A_LINK: ReadonlySet<string> = new Set(['EINVAL', 'ENOENT', 'ENOTDIR']);
/** Reading several that are larger one after the other could hold up the event loop. */
const SHORT = 1_024;

export interface FileSourceOptions extends Omit<ManifestFilesOptions, 'isLenient'> {
  /** A directory of manifests or one file; both may come and go. */
  readonly path: string;
  /** Whether references to objects of an API server are taken as far as a pod can do without them. */
  readonly isLenient?: boolean;
  /** How often all is listed, in milliseconds, beside what inotify tells. */
  readonly listEveryMs: number;
  /** Reads the RuntimeClasses, which pods are admitted by when their files are read; absent: they are taken as they are. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the full set once after the start and after each change, and with what is found beside it. */
  readonly onSet: (set: ManifestSet, beside: Beside) => void;
  /** Told where it has come to whenever it has nothing to do now. */
  readonly onState: (step: SourceStep) => void;
}

/** Follows the static pods of a path by inotify and a full list every so often, until the signal aborts. */
export async function watchManifests(options: FileSourceOptions): Promise<void> {
  const { signal, onSet, onState } = options;
  const source = new FileSource(options);
  const end = () => source.end();
  signal.addEventListener('abort', end, { once: true });
  try {
    while (!signal.aborted) {
      await source.read();
      const set = signal.aborted ? undefined : source.take();
      if (set !== undefined) onSet(set, source.files.beside());
      if (signal.aborted) return;
      onState(source.state());
      await source.untilDue();
    }
  } finally {
    signal.removeEventListener('abort', end);
    source.end();
  }
}

const UNNAMEABLE = { message: 'the name is not UTF-8', hidesPods: false };

/** Why something can not be read or watched. */
interface Trouble {
  readonly message: string;
  /** There may be pods in it. */
  readonly hidesPods: boolean;
}

class FileSource {
  readonly files: ManifestFiles;
  readonly #options: FileSourceOptions;
  readonly #path: string;
  readonly #disk: FileSystem;
  readonly #clock: Clock;
  /** By which files and lists are due. */
  readonly #steady: SteadyClock;
  readonly #signal: AbortSignal;
  readonly #alarm;
  /** When each file that changed may be read, by its name in the directory. */
  readonly #due = new Map<string, number>();
  /** How often the entry of each file was created, removed or renamed since the file was read, by its name. */
  readonly #entryChanges = new Map<string, number>();
  /** The inode of each file that was read, by its path. */
  readonly #inodes = new Map<string, number>();
  /** Since when files have been seen to be empty. */
  readonly #emptySince = new Map<string, number>();
  /** What can not be read or watched, and why: each is told once. */
  readonly #problems = new Map<string, Trouble>();
  /** Whether all has been read once: a pod of which nothing was read after the start may run. */
  #isComplete = false;
  #classes: RuntimeClasses | undefined;
  #listAt: number;
  #retryMs = FIRST_RETRY_MS;
  #isThere = false;
  #watched: { place: ManifestPlace; watcher: DirectoryWatcher } | undefined;

  constructor(options: FileSourceOptions) {
    const { path, clock, signal, isLenient = false } = options;
    this.#options = options;
    this.files = new ManifestFiles({ ...options, isLenient });
    this.#path = path;
    this.#disk = options.files;
    this.#clock = clock;
    this.#steady = steadyClock(clock);
    this.#signal = signal;
    this.#alarm = createAlarm(this.#steady);
    this.#listAt = this.#steady.now();
  }

  end(): void {
    this.#unwatch();
    this.#alarm.ring();
  }

  /** The set, where it has changed. */
  take(): ManifestSet | undefined {
    const set = this.files.take();
    if (set === undefined) return undefined;
    this.#isComplete ||= ![...this.#problems.values()].some(({ hidesPods }) => hidesPods);
    return this.#isComplete ? set : { ...set, isPartial: true };
  }

  /** What it waits for now. Files that cannot be read are told as problems of their own. */
  state(): SourceStep {
    const now = this.#steady.now();
    const until = this.#steady.toWallTime(this.#listAt);
    const [listing, inotify] = [LISTING, INOTIFY].map((what) => this.#problems.get(what)?.message);
    if (listing !== undefined) return { state: 'failing', until, failure: listing };
    if (!this.#isThere) return { state: 'absent', until };
    const written = [...this.#emptySince.values()].map((since) => since + EMPTY_MS);
    const held = written.filter((at) => at > now);
    if (held.length > 0) return { state: 'settling', until: this.#steady.toWallTime(Math.min(...held)) };
    return inotify === undefined ? { state: 'watching' } : { state: 'polling', until, failure: inotify };
  }

  untilDue(): Promise<void> {
    return this.#alarm.wait(Math.min(this.#listAt, ...this.#due.values()));
  }

  /** Reads what is due: everything when a list is, else some of the files that have settled. */
  async read(): Promise<void> {
    await this.#attempt(CLASSES, async () => {
      this.#classes = await this.#options.readClasses?.();
    });
    const now = this.#steady.now();
    // A pod would be admitted without the overhead and tolerations of its RuntimeClass, so the classes are read first.
    if (this.#problems.has(CLASSES) && this.#classes === undefined) {
      this.#listAt = Math.max(this.#listAt, now + FIRST_RETRY_MS);
      return;
    }
    if (now >= this.#listAt) return this.#attempt(LISTING, () => this.#list(now), this.#path);
    const settled = [...this.#due].flatMap(([name, at]) => (at <= now ? [name] : [])).slice(0, FILES_AT_ONCE);
    for (const name of settled) this.#due.delete(name);
    const directory = this.#watched?.place.directory;
    if (directory === undefined) return;
    const recreated = await this.#takeRecreated(directory, settled);
    for (const name of recreated) {
      this.#forget(join(directory, name));
      this.#due.set(name, now);
    }
    const others = settled.filter((name) => !recreated.has(name));
    await this.#readFiles(others.map((name) => join(directory, name)));
  }

  /**
   * Finds the files that were removed and created again since they were read. For a kubelet that is a removal and a new
   * start, whatever they hold, because it handles each event by itself (`produceWatchEvent` in
   * `pkg/kubelet/config/file_linux.go`). They are read in the next round, so that a set without them comes first. A file
   * that is renamed over another changes its entry once. If that was done several times, the file was changed after it was
   * last written (ctime), and its inode is a new one.
   */
  async #takeRecreated(directory: string, names: readonly string[]): Promise<ReadonlySet<string>> {
    const recreated = new Set<string>();
    for (const name of names) {
      const count = this.#entryChanges.get(name) ?? 0;
      this.#entryChanges.delete(name);
      const file = join(directory, name);
      const inode = this.#inodes.get(file);
      if (count < 2 || inode === undefined) continue;
      const stats = await orAbsent(() => this.#disk.stat(file));
      if (stats === undefined) continue;
      const isRenamedOver = stats.ino !== inode && stats.ctimeMs > stats.mtimeMs;
      if (!isRenamedOver) recreated.add(name);
    }
    return recreated;
  }

  async #list(now: number): Promise<void> {
    this.#listAt = now + this.#options.listEveryMs;
    const place = await locateManifests(this.#disk, this.#path);
    if (this.#signal.aborted) return;
    this.#isThere = place !== undefined;
    if (place === undefined) return this.#absent(now);
    this.#retryMs = FIRST_RETRY_MS;
    this.files.odd(this.#path);
    await this.#attempt(INOTIFY, () => this.#watch(place), `inotify on ${place.directory}`);
    const { files, unnameable } = await listManifests(this.#disk, place);
    // What is being written has its own time.
    await this.#readFiles(files.filter((file) => !this.#due.has(basename(file))));
    if (this.#signal.aborted) return;
    const present = new Set(files);
    this.files.keepOnly(present);
    this.#forgetProblems(place.directory, new Set([...files, ...unnameable]));
    retainKeys(this.#emptySince, present);
    retainKeys(this.#inodes, present);
    for (const file of unnameable) this.#report(file, file, UNNAMEABLE, 'it is renamed');
  }

  /** Nothing is at the path: an empty set, and another look soon, then ever later. */
  #absent(now: number): void {
    this.#unwatch();
    this.#due.clear();
    this.files.keepOnly(new Set());
    this.#forgetProblems(this.#path, new Set());
    this.files.odd(this.#path, NOTHING_THERE);
    this.#listAt = now + this.#retryMs;
    this.#retryMs = Math.min(this.#options.listEveryMs, this.#retryMs * 2);
  }

  /** The files of a place whose problems are over because they are gone. */
  #forgetProblems(directory: string, present: ReadonlySet<string>): void {
    for (const what of this.#problems.keys()) {
      if ((what !== this.#path && dirname(what) !== directory) || present.has(what)) continue;
      this.#problems.delete(what);
      this.files.readable(what);
    }
  }

  /** Some files at a time, so that never all are held in memory; what they hold is taken in one by one. */
  async #readFiles(files: readonly string[]): Promise<void> {
    for (let at = 0; at < files.length && !this.#signal.aborted; at += FILES_AT_ONCE) {
      const found = files.slice(at, at + FILES_AT_ONCE).map((file) => {
        const reading = readTextFile(this.#disk, file, { signal: this.#signal });
        // Whoever waits for it hears of it.
        reading.catch(() => {});
        return { file, reading };
      });
      for (const { file, reading } of found)
        await this.#attempt(file, async () => this.#take(file, await this.#whole(file, reading)));
    }
  }

  /** Large ones are held one at a time. */
  #whole(file: string, reading: Promise<FoundText>): Promise<FoundText> {
    return reading.catch((error: unknown) => {
      if (!(error instanceof TooLargeFile)) throw error;
      return readTextFile(this.#disk, file, { signal: this.#signal, largest: LARGEST_TEXT });
    });
  }

  async #take(file: string, found: FoundText): Promise<void> {
    if (this.#signal.aborted) return;
    if (found === undefined || 'noFile' in found) this.#forget(file);
    if (found === undefined) return this.#assertNoLink(file);
    if ('noFile' in found) throw new Error(found.noFile === A_DIRECTORY ? NO_RECURSION : found.noFile);
    if (this.#isBegun(file, found.text)) return;
    this.#inodes.set(file, found.ino);
    await this.files.update(file, found, this.#clock.now(), this.#classes);
    if (found.text.length > SHORT) await this.#options.nextTurn();
  }

  /** Throws if a file that does not exist is a link, so that a manifest with a wrong target is not ignored silently. */
  async #assertNoLink(file: string): Promise<void> {
    const target = await this.#disk.readlink(file).catch((error: unknown) => {
      if (NOT_A_LINK.has(errorCode(error) ?? '')) return undefined;
      throw error;
    });
    if (target !== undefined) throw new Error(`a link to ${target}, which does not exist`);
  }

  #forget(file: string): void {
    this.#emptySince.delete(file);
    this.#inodes.delete(file);
    this.files.remove(file);
  }

  /** Whether a file is empty and may only be so until it is written: it is looked at again before that is a mistake. */
  #isBegun(file: string, text: string): boolean {
    if (text.trim() !== '') {
      this.#emptySince.delete(file);
      return false;
    }
    const now = this.#steady.now();
    const since = this.#emptySince.get(file) ?? now;
    this.#emptySince.set(file, since);
    if (now - since >= EMPTY_MS) return false;
    this.#due.set(basename(file), since + EMPTY_MS);
    return true;
  }

  /** Does something that the file system may refuse; the refusal is told once, until it succeeds again. */
  async #attempt(what: string, action: () => void | Promise<void>, file = what): Promise<void> {
    try {
      await action();
      if (this.#problems.delete(what)) this.files.readable(what);
    } catch (error) {
      const trouble = {
        message: messageOf(error),
        hidesPods: what === LISTING || (what !== INOTIFY && isUnread(error)),
      };
      this.#report(what, file, trouble, `it can be read: retried every ${goDuration(this.#options.listEveryMs)}`);
    }
  }

  #report(what: string, file: string, trouble: Trouble, until: string): void {
    const { message } = trouble;
    if (this.#signal.aborted || this.#problems.get(what)?.message === message) return;
    this.#problems.set(what, trouble);
    this.files.unreadable(what, { file, path: '', message, until });
  }

  #watch(place: ManifestPlace): void {
    if (this.#watched?.place.id === place.id && this.#watched.place.only === place.only) return;
    this.#unwatch();
    const watcher = this.#disk.watch(place.directory, {
      onChange: (name, change) => this.#heard(place, name, change),
      onError: () => this.#lost(),
    });
    this.#watched = { place, watcher };
  }

  #unwatch(): void {
    this.#watched?.watcher.close();
    this.#watched = undefined;
    this.#entryChanges.clear();
  }

  #lost(): void {
    this.#unwatch();
    this.#listAt = Math.min(this.#listAt, this.#steady.now() + FIRST_RETRY_MS);
    this.#alarm.ring();
  }

  #heard(place: ManifestPlace, name: string | null, change: DirectoryChange): void {
    const now = this.#steady.now();
    // Of a name that is not UTF-8 only a list can tell what it is.
    if (name?.includes('\ufffd')) this.#listAt = now;
    else if (name !== null && isManifestName(place, name)) {
      this.#due.set(name, now + SETTLE_MS);
      if (change === 'entry') this.#entryChanges.set(name, (this.#entryChanges.get(name) ?? 0) + 1);
    }
    // The directory itself, or the link that a mounted volume swaps to change all its files at once.
    if (name === null || name === basename(place.directory) || name.startsWith('..')) this.#listAt = now;
    this.#alarm.ring();
  }
}
