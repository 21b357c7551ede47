/** What directories that are watched tell of changes, and what becomes of that on its way. */
import type { DirectoryChange, DirectoryWatcher, FileSystem } from '../../../host/files/fileSystem.ts';
import { fileError } from '../../../host/simulated/fileErrors.ts';
import type { Schedule } from '../run/schedule.ts';
import type { Spells } from './spells.ts';

/**
 * How a host watches directories, beside as it should: changes are not told, told twice or late; or it does not watch any
 * more, for want of watches, and begins no new one.
 */
export type WatchTrouble = 'dropped' | 'doubled' | 'late' | 'exhausted';

type Listener = Parameters<FileSystem['watch']>[1];

const LATE_MS = 3_000;

export class Watches {
  readonly #clock: Schedule;
  readonly #spells: Spells;
  readonly #listeners = new Set<Listener>();
  #trouble: WatchTrouble | undefined;

  constructor(clock: Schedule, spells: Spells) {
    this.#clock = clock;
    this.#spells = spells;
  }

  suffer(trouble: WatchTrouble, forMs: number): void {
    this.#trouble = trouble;
    this.#spells.begin('watches', forMs, () => {
      this.#trouble = undefined;
    });
    if (trouble !== 'exhausted') return;
    for (const { onError } of [...this.#listeners]) onError(fileError('ENOSPC', 'watch', ''));
  }

  /** Watches a directory of these files. */
  begin(files: FileSystem, directory: string, listener: Listener): DirectoryWatcher {
    if (this.#trouble === 'exhausted') throw fileError('ENOSPC', 'watch', directory);
    const watcher = files.watch(directory, {
      onChange: (name, change) => this.#tell(listener, name, change),
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

  /** Nothing is told to one that has been closed. */
  #tell(listener: Listener, name: string | null, change?: DirectoryChange): void {
    const tell = () => void (this.#listeners.has(listener) && listener.onChange(name, change));
    if (this.#trouble === 'dropped') return;
    if (this.#trouble === 'late') return void this.#clock.setTimeout(tell, LATE_MS);
    tell();
    if (this.#trouble === 'doubled') tell();
  }
}
