import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import { type Clock, type SteadyClock, steadyClock } from '../../base/time/clock.ts';
import { goDuration } from '../../base/time/duration.ts';
import { retainKeys } from '../../base/values/retainKeys.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { DirectoryChange, DirectoryWatcher, FileSystem } from '../../host/files/fileSystem.ts';
import type { RuntimeClasses } from '../../kubernetes/api/runtimeClass.ts';
import type { SourceChange } from '../../machines/node/pods/source.ts';
import { createAlarm } from '../alarm.ts';
import { isManifestName, listManifests, locateManifests, type ManifestLocation } from './manifest/manifestDirectory.ts';
import { MAX_TEXT_BYTES } from './manifest/manifestLimits.ts';
import {
  ManifestFiles,
  type ManifestFilesOptions,
  type ManifestSet,
  type SourceDetails,
} from './manifest/manifestSet.ts';
import {
  DIRECTORY_NOT_FILE,
  isReadFailure,
  readTextFile,
  type TextFile,
  TooLargeFile,
  undefinedIfMissing,
} from './yaml/textFile.ts';

const FIRST_RETRY_MS = 1_000;
/** Delay after which a changed file is considered completely written. Each further change restarts the delay. */
const SETTLE_MS = 5;
/** Maximum time that a new file may be empty. After that, the empty file is reported as a problem. */
const MAX_EMPTY_MS = 500;
const NO_RECURSION = `${DIRECTORY_NOT_FILE}: subdirectories of the manifest path are not read`;
/**
 * Maximum number of files to read before the pods read so far are published. This allows the first of many pods to
 * start while other files are read.
 */
const BATCH_SIZE = 8;
/** Keys in `#problems` for activities other than reading a file. They differ from every file path. */
const LISTING_KEY = 'list';
const INOTIFY_KEY = 'inotify';
const CLASSES_KEY = 'RuntimeClasses';
const NO_SUCH_PATH = 'no such file or directory: no pods are read from here until it exists';
/** Error codes of `readlink` on a path that is not a link or does not exist. */
const NOT_A_LINK: ReadonlySet<string> = new Set(['EINVAL', 'ENOENT', 'ENOTDIR']);
/** Size of a file in characters above which the source yields to the event loop after parsing the file. */
const YIELD_CHARACTERS = 1_024;

export interface FileSourceOptions extends Omit<ManifestFilesOptions, 'isLenient'> {
  /** A directory of manifests or a single file. It may be created or removed at any time. */
  readonly path: string;
  /** Whether references to objects of an API server are accepted if the pod can run without them. */
  readonly isLenient?: boolean;
  /** Interval between full listings, which are made in addition to inotify events, in milliseconds. */
  readonly listIntervalMs: number;
  /** Reads the RuntimeClasses for admission. If undefined, pods are not checked against classes. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called initially and after each change with the full set of pods and the details that actors do not need. */
  readonly onSet: (set: ManifestSet, details: SourceDetails) => void;
  /** Called with the source's state whenever the source becomes idle. */
  readonly onState: (step: SourceChange) => void;
}

/** Watches the manifests of static pods at a path until the signal aborts. Uses inotify and periodic listings. */
export async function watchManifests(options: FileSourceOptions): Promise<void> {
  const { signal, onSet, onState } = options;
  const source = new FileSource(options);
  const stopSource = () => source.stop();
  signal.addEventListener('abort', stopSource, { once: true });
  try {
    while (!signal.aborted) {
      await source.read();
      const set = signal.aborted ? undefined : source.takeChangedSet();
      if (set !== undefined) onSet(set, source.files.details());
      if (signal.aborted) return;
      onState(source.state());
      await source.untilDue();
    }
  } finally {
    signal.removeEventListener('abort', stopSource);
    source.stop();
  }
}

const INVALID_NAME_FAILURE = { message: 'the name is not UTF-8', hidesPods: false };

/** The reason why a path cannot be read or watched. */
interface ReadFailure {
  readonly message: string;
  /** Whether pods at the path may be missing from the set because of the failure. */
  readonly hidesPods: boolean;
}

class FileSource {
  readonly files: ManifestFiles;
  readonly #options: FileSourceOptions;
  readonly #path: string;
  readonly #disk: FileSystem;
  readonly #clock: Clock;
  /** The clock for the deadlines of files and lists. */
  readonly #steadyClock: SteadyClock;
  readonly #signal: AbortSignal;
  readonly #alarm;
  /** Time at which each changed file may be read, keyed by its name in the directory. */
  readonly #readableAt = new Map<string, number>();
  /** Number of times that each file was created, removed or renamed since it was read, keyed by name. */
  readonly #entryChanges = new Map<string, number>();
  /** Names of files that were found missing after they were last read, even if they exist again. */
  readonly #removedNames = new Set<string>();
  /** The inode of each file that was read, keyed by path. */
  readonly #inodeByPath = new Map<string, number>();
  /** Time since which each file has been empty, keyed by path. */
  readonly #emptySinceByPath = new Map<string, number>();
  /**
   * Reasons why reading a path or another activity currently fails, keyed by path or activity. Each failure is reported
   * once.
   */
  readonly #problems = new Map<string, ReadFailure>();
  /** Whether all files have been read once. Before that, running pods may be missing from the set. */
  #hasReadAll = false;
  #classes: RuntimeClasses | undefined;
  #nextListAt: number;
  #retryMs = FIRST_RETRY_MS;
  #directoryExists = false;
  #watchedDirectory: { place: ManifestLocation; watcher: DirectoryWatcher } | undefined;

  constructor(options: FileSourceOptions) {
    const { path, clock, signal, isLenient = false } = options;
    this.#options = options;
    this.files = new ManifestFiles({ ...options, isLenient });
    this.#path = path;
    this.#disk = options.files;
    this.#clock = clock;
    this.#steadyClock = steadyClock(clock);
    this.#signal = signal;
    this.#alarm = createAlarm(this.#steadyClock);
    this.#nextListAt = this.#steadyClock.now();
  }

  stop(): void {
    this.#stopWatching();
    this.#alarm.ring();
  }

  /** Returns the set of pods if it has changed since the last call. */
  takeChangedSet(): ManifestSet | undefined {
    const set = this.files.takeChangedSet();
    if (set === undefined) return undefined;
    this.#hasReadAll ||= ![...this.#problems.values()].some(({ hidesPods }) => hidesPods);
    return this.#hasReadAll ? set : { ...set, isPartial: true };
  }

  /**
   * Returns the source's state and, if it waits, the reason and deadline. Unreadable files are reported as problems
   * instead.
   */
  state(): SourceChange {
    const now = this.#steadyClock.now();
    const nextListTime = this.#steadyClock.toWallTime(this.#nextListAt);
    const [listing, inotify] = [LISTING_KEY, INOTIFY_KEY].map((key) => this.#problems.get(key)?.message);
    if (listing !== undefined) return { state: 'failing', until: nextListTime, failure: listing };
    if (!this.#directoryExists) return { state: 'absent', until: nextListTime };
    const settleTimes = [...this.#emptySinceByPath.values()].map((since) => since + MAX_EMPTY_MS);
    const pendingTimes = settleTimes.filter((time) => time > now);
    if (pendingTimes.length > 0)
      return { state: 'settling', until: this.#steadyClock.toWallTime(Math.min(...pendingTimes)) };
    return inotify === undefined ? { state: 'watching' } : { state: 'polling', until: nextListTime, failure: inotify };
  }

  untilDue(): Promise<void> {
    return this.#alarm.waitUntil(Math.min(this.#nextListAt, ...this.#readableAt.values()));
  }

  /** Reads a full list if one is due. Otherwise, reads some of the files that have settled. */
  async read(): Promise<void> {
    await this.#runAndReport(CLASSES_KEY, async () => {
      this.#classes = await this.#options.readClasses?.();
    });
    const now = this.#steadyClock.now();
    // Read the RuntimeClasses first, because otherwise pods would be admitted without the overhead and tolerations of
    // their classes.
    if (this.#problems.has(CLASSES_KEY) && this.#classes === undefined) {
      this.#nextListAt = Math.max(this.#nextListAt, now + FIRST_RETRY_MS);
      return;
    }
    if (now >= this.#nextListAt) return this.#runAndReport(LISTING_KEY, () => this.#listDirectory(now), this.#path);
    const settledNames = [...this.#readableAt]
      .flatMap(([name, dueAt]) => (dueAt <= now ? [name] : []))
      .slice(0, BATCH_SIZE);
    for (const name of settledNames) this.#readableAt.delete(name);
    const directory = this.#watchedDirectory?.place.directory;
    if (directory === undefined) return;
    const recreatedNames = await this.#takeRecreatedFiles(directory, settledNames);
    for (const name of recreatedNames) {
      this.#forgetFile(join(directory, name));
      this.#readableAt.set(name, now);
    }
    const changedNames = settledNames.filter((name) => !recreatedNames.has(name));
    await this.#readFiles(changedNames.map((name) => join(directory, name)));
  }

  /**
   * Finds files that were removed and recreated since they were read. A kubelet handles each event individually, so it
   * stops and restarts the pod regardless of the content (`produceWatchEvent` in `pkg/kubelet/config/file_linux.go`).
   * The recreated files are read in the next round, so that a set of pods without them is published first. A file that
   * was replaced by a rename does not count as recreated. It is recognized because its directory entry changed only
   * once, or because its new inode has a ctime later than its mtime. If the old file was removed before the rename, the
   * file does count as recreated, provided that it was missing when the removal was reported.
   */
  async #takeRecreatedFiles(directory: string, names: readonly string[]): Promise<ReadonlySet<string>> {
    const recreatedNames = new Set<string>();
    for (const name of names) {
      const count = this.#entryChanges.get(name) ?? 0;
      this.#entryChanges.delete(name);
      const wasRemoved = this.#removedNames.delete(name);
      const file = join(directory, name);
      const inode = this.#inodeByPath.get(file);
      if ((count < 2 && !wasRemoved) || inode === undefined) continue;
      const stats = await undefinedIfMissing(() => this.#disk.stat(file));
      if (stats === undefined) continue;
      const wasReplacedByRename = !wasRemoved && stats.ino !== inode && stats.ctimeMs > stats.mtimeMs;
      if (!wasReplacedByRename) recreatedNames.add(name);
    }
    return recreatedNames;
  }

  async #listDirectory(now: number): Promise<void> {
    this.#nextListAt = now + this.#options.listIntervalMs;
    const manifestLocation = await locateManifests(this.#disk, this.#path);
    if (this.#signal.aborted) return;
    this.#directoryExists = manifestLocation !== undefined;
    if (manifestLocation === undefined) return this.#onMissing(now);
    this.#retryMs = FIRST_RETRY_MS;
    this.files.setNotice(this.#path);
    await this.#runAndReport(
      INOTIFY_KEY,
      () => this.#watch(manifestLocation),
      `inotify on ${manifestLocation.directory}`,
    );
    const { files, invalidNames } = await listManifests(this.#disk, manifestLocation);
    // Skip files that are still being written. They are read once they have settled.
    await this.#readFiles(files.filter((file) => !this.#readableAt.has(basename(file))));
    if (this.#signal.aborted) return;
    const presentFiles = new Set(files);
    this.files.retainOnly(presentFiles);
    this.#forgetProblems(manifestLocation.directory, new Set([...files, ...invalidNames]));
    retainKeys(this.#emptySinceByPath, presentFiles);
    retainKeys(this.#inodeByPath, presentFiles);
    for (const file of invalidNames) this.#reportFailure(file, file, INVALID_NAME_FAILURE, 'it is renamed');
  }

  /**
   * Publishes an empty set of pods for a path that does not exist, and checks the path again with increasing delays.
   */
  #onMissing(now: number): void {
    this.#stopWatching();
    this.#readableAt.clear();
    this.files.retainOnly(new Set());
    this.#forgetProblems(this.#path, new Set());
    this.files.setNotice(this.#path, NO_SUCH_PATH);
    this.#nextListAt = now + this.#retryMs;
    this.#retryMs = Math.min(this.#options.listIntervalMs, this.#retryMs * 2);
  }

  /** Removes the problems of files that no longer exist. */
  #forgetProblems(directory: string, present: ReadonlySet<string>): void {
    for (const key of this.#problems.keys()) {
      if ((key !== this.#path && dirname(key) !== directory) || present.has(key)) continue;
      this.#problems.delete(key);
      this.files.setReadable(key);
    }
  }

  /** Reads files in batches, which limits memory usage, and processes them one by one. */
  async #readFiles(files: readonly string[]): Promise<void> {
    for (let start = 0; start < files.length && !this.#signal.aborted; start += BATCH_SIZE) {
      const batch = files.slice(start, start + BATCH_SIZE).map((file) => {
        const pendingRead = readTextFile(this.#disk, file, { signal: this.#signal });
        // Prevents an unhandled rejection, because the promise is only awaited later, when its file's turn comes.
        pendingRead.catch(() => {});
        return { file, reading: pendingRead };
      });
      for (const { file, reading } of batch)
        await this.#runAndReport(file, async () => this.#update(file, await this.#readLarge(file, reading)));
    }
  }

  /** Waits for the content of a file. Reads a large file again with a higher limit, one file at a time. */
  #readLarge(file: string, reading: Promise<TextFile>): Promise<TextFile> {
    return reading.catch((error: unknown) => {
      if (!(error instanceof TooLargeFile)) throw error;
      return readTextFile(this.#disk, file, { signal: this.#signal, maxBytes: MAX_TEXT_BYTES });
    });
  }

  async #update(file: string, content: TextFile): Promise<void> {
    if (this.#signal.aborted) return;
    if (content === undefined || 'noFile' in content) this.#forgetFile(file);
    if (content === undefined) return this.#assertNoLink(file);
    if ('noFile' in content) throw new Error(content.noFile === DIRECTORY_NOT_FILE ? NO_RECURSION : content.noFile);
    if (this.#mayBeUnwritten(file, content.text)) return;
    this.#inodeByPath.set(file, content.ino);
    await this.files.update(file, content, this.#clock.now(), this.#classes);
    if (content.text.length > YIELD_CHARACTERS) await this.#options.nextTurn();
  }

  /** Throws if a missing file is a dangling link, because it would otherwise be ignored silently. */
  async #assertNoLink(file: string): Promise<void> {
    const target = await this.#disk.readlink(file).catch((error: unknown) => {
      if (NOT_A_LINK.has(errorCode(error) ?? '')) return undefined;
      throw error;
    });
    if (target !== undefined) throw new Error(`a link to ${target}, which does not exist`);
  }

  #forgetFile(file: string): void {
    this.#emptySinceByPath.delete(file);
    this.#inodeByPath.delete(file);
    this.files.remove(file);
  }

  /**
   * Whether a file is empty, perhaps because it has not been written yet. Such a file is read again before it is
   * reported as a problem.
   */
  #mayBeUnwritten(file: string, text: string): boolean {
    if (text.trim() !== '') {
      this.#emptySinceByPath.delete(file);
      return false;
    }
    const now = this.#steadyClock.now();
    const emptySince = this.#emptySinceByPath.get(file) ?? now;
    this.#emptySinceByPath.set(file, emptySince);
    if (now - emptySince >= MAX_EMPTY_MS) return false;
    this.#readableAt.set(basename(file), emptySince + MAX_EMPTY_MS);
    return true;
  }

  /** Runs an action. Reports a repeated failure only once until the action succeeds. */
  async #runAndReport(key: string, action: () => void | Promise<void>, file = key): Promise<void> {
    try {
      await action();
      if (this.#problems.delete(key)) this.files.setReadable(key);
    } catch (error) {
      const readFailure = {
        message: messageOf(error),
        hidesPods: key === LISTING_KEY || (key !== INOTIFY_KEY && isReadFailure(error)),
      };
      this.#reportFailure(
        key,
        file,
        readFailure,
        `it can be read: retried every ${goDuration(this.#options.listIntervalMs)}`,
      );
    }
  }

  #reportFailure(key: string, file: string, failure: ReadFailure, until: string): void {
    const { message } = failure;
    if (this.#signal.aborted || this.#problems.get(key)?.message === message) return;
    this.#problems.set(key, failure);
    this.files.setUnreadable(key, { file, path: '', message, until });
  }

  #watch(location: ManifestLocation): void {
    if (this.#watchedDirectory?.place.id === location.id && this.#watchedDirectory.place.fileName === location.fileName)
      return;
    this.#stopWatching();
    const directoryWatcher = this.#disk.watch(location.directory, {
      onChange: (name, change) => this.#onChange(location, name, change),
      onError: () => this.#onWatchLost(),
    });
    this.#watchedDirectory = { place: location, watcher: directoryWatcher };
  }

  #stopWatching(): void {
    this.#watchedDirectory?.watcher.close();
    this.#watchedDirectory = undefined;
    this.#entryChanges.clear();
    this.#removedNames.clear();
  }

  #onWatchLost(): void {
    this.#stopWatching();
    this.#nextListAt = Math.min(this.#nextListAt, this.#steadyClock.now() + FIRST_RETRY_MS);
    this.#alarm.ring();
  }

  /**
   * Records that a file that was read earlier is missing now. Checks synchronously, because a file that is removed and
   * recreated may be missing for only a few milliseconds.
   */
  #recordRemoval(directory: string, name: string): void {
    const file = join(directory, name);
    if (this.#inodeByPath.has(file) && this.#isMissing(file)) this.#removedNames.add(name);
  }

  #isMissing(file: string): boolean {
    try {
      return this.#disk.lstatSync(file) === undefined;
    } catch {
      // The file cannot be checked, e.g. because of an I/O error. Reading it reports the reason.
      return false;
    }
  }

  #onChange(location: ManifestLocation, name: string | null, change: DirectoryChange): void {
    const now = this.#steadyClock.now();
    // List the directory for a name that is not valid UTF-8, because only a list can identify the file.
    if (name?.includes('\ufffd')) this.#nextListAt = now;
    else if (name !== null && isManifestName(location, name)) {
      this.#readableAt.set(name, now + SETTLE_MS);
      if (change === 'entry') {
        this.#entryChanges.set(name, (this.#entryChanges.get(name) ?? 0) + 1);
        this.#recordRemoval(location.directory, name);
      }
    }
    // List the directory if the change concerns the directory itself, or the link that a mounted volume swaps to
    // replace all its files at once.
    if (name === null || name === basename(location.directory) || name.startsWith('..')) this.#nextListAt = now;
    this.#alarm.ring();
  }
}
