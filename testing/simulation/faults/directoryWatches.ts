/** Directory watches and their faults. */
import type { DirectoryChange, DirectoryWatcher, FileSystem } from '../../../host/files/fileSystem.ts';
import { fileError } from '../../../host/simulated/fileError.ts';
import type { Schedule } from '../run/schedule.ts';
import type { TemporaryFaults } from './temporaryFaults.ts';

/**
 * The faults of directory watches. Events are dropped, doubled or late. With `exhausted`, all watches fail and none can
 * be created.
 */
export type WatchFault = 'dropped' | 'doubled' | 'late' | 'exhausted';

type Listener = Parameters<FileSystem['watch']>[1];

const LATE_MS = 3_000;

export class DirectoryWatches {
  readonly #clock: Schedule;
  readonly #temporaryFaults: TemporaryFaults;
  readonly #listeners = new Set<Listener>();
  #fault: WatchFault | undefined;

  constructor(clock: Schedule, temporaryFaults: TemporaryFaults) {
    this.#clock = clock;
    this.#temporaryFaults = temporaryFaults;
  }

  startFault(fault: WatchFault, forMs: number): void {
    this.#fault = fault;
    this.#temporaryFaults.start('watches', forMs, () => {
      this.#fault = undefined;
    });
    if (fault !== 'exhausted') return;
    for (const { onError } of [...this.#listeners]) onError(fileError('ENOSPC', 'watch', ''));
  }

  /** Starts watching a directory. */
  watch(files: FileSystem, directory: string, listener: Listener): DirectoryWatcher {
    if (this.#fault === 'exhausted') throw fileError('ENOSPC', 'watch', directory);
    const watcher = files.watch(directory, {
      onChange: (name, change) => this.#deliver(listener, name, change),
      onError: listener.onError,
    });
    this.#listeners.add(listener);
    return {
      close: () => {
        this.#listeners.delete(listener);
        watcher.close();
      },
    };
  }

  /** Delivers an event, subject to the current fault. A closed watch receives no events. */
  #deliver(listener: Listener, name: string | null, change?: DirectoryChange): void {
    const notify = () => void (this.#listeners.has(listener) && listener.onChange(name, change));
    if (this.#fault === 'dropped') return;
    if (this.#fault === 'late') return void this.#clock.setTimeout(notify, LATE_MS);
    notify();
    if (this.#fault === 'doubled') notify();
  }
}
