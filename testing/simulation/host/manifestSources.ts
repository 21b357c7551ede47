/** The manifests of the users: the directory of static pods, and the list at a URL. */
import { join } from 'node:path';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { createServer, type UrlFault } from '../faults/hostFaults.ts';
import { syncAll, writeFile } from './writeFile.ts';

/** Manifest URL for stories that need one. */
export const MANIFEST_URL = 'http://manifests.example:80/pods';
export const MANIFEST_HOST = 'manifests.example';

/** Name of a manifest file while it is being written. The node ignores names that start with a dot. */
const TEMPORARY_FILE = '.new';

export class ManifestSources {
  readonly #disk: MemoryDisk;
  readonly #path: string;
  readonly #away: string;
  #isAway = false;
  /** The manifests that the URL lists, keyed by the full names of the pods. */
  readonly #listed = new Map<string, object>();
  urlFault: UrlFault | undefined;

  constructor(disk: MemoryDisk, path: string) {
    this.#disk = disk;
    this.#path = path;
    this.#away = `${path}.away`;
  }

  /** Writes a manifest atomically, as `mv` does. */
  put(file: string, text: string): void {
    this.write(TEMPORARY_FILE, text);
    this.rename(TEMPORARY_FILE, file);
  }

  /** Overwrites a manifest in place, as some editors do, so that the node may read a part of it. */
  write(file: string, text: string): void {
    writeFile(this.#disk, this.#at(file), text);
    this.#sync();
  }

  remove(file: string): void {
    if (this.#disk.find(this.#at(file), 'unlink') !== undefined) this.#disk.unlink(this.#at(file));
    this.#sync();
  }

  rename(from: string, to: string): void {
    this.#disk.rename(this.#at(from), this.#at(to));
    this.#sync();
  }

  /** Moves the whole directory away. Later changes are made in the moved directory. */
  goAway(): void {
    if (this.#isAway) return;
    this.#disk.rename(this.#path, this.#away);
    this.#isAway = true;
    this.#sync();
  }

  comeBack(): void {
    if (!this.#isAway) return;
    this.#disk.rename(this.#away, this.#path);
    this.#isAway = false;
    this.#sync();
  }

  list(pod: string, manifest: object): void {
    this.#listed.set(pod, manifest);
  }

  unlist(pod: string): void {
    this.#listed.delete(pod);
  }

  /** Returns the server at the manifest URL. */
  server() {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [...this.#listed.values()] });
    return createServer(text, this.urlFault);
  }

  #at(file: string): string {
    return join(this.#isAway ? this.#away : this.#path, file);
  }

  /** Syncs the manifests, because only the agent's own data should be at risk in a power cut. */
  #sync(): void {
    const directory = this.#isAway ? this.#away : this.#path;
    this.#disk.sync(this.#disk.directoryAt(join(directory, '..'), 'fsync'));
    syncAll(this.#disk, this.#disk.directoryAt(directory, 'fsync'));
  }
}
