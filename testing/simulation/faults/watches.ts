/** Directory watches and their faults. */
import type { DirectoryChange, DirectoryWatcher, FileSystem } from '../../../host/files/fileSystem.ts';
import { fileError } from '../../../host/simulated/fileErrors.ts';
import type { Schedule } from '../run/schedule.ts';
import type { Spells } from './spells.ts';

/**
 * The faults of directory watches. Events are dropped, doubled or late, or with `exhausted`, all watches fail and none
 * can be created.
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

  /** Starts watching a directory. */
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

  /** A closed watch receives no events. */
  #tell(listener: Listener, name: string | null, change?: DirectoryChange): void {
    const tell = () => void (this.#listeners.has(listener) && listener.onChange(name, change));
    if (this.#trouble === 'dropped') return;
    if (this.#trouble === 'late') return void this.#clock.setTimeout(tell, LATE_MS);
    tell();
    if (this.#trouble === 'doubled') tell();
  }
}
