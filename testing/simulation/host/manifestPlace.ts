/** Where somebody puts manifests: the directory of static pods, and the list that a URL gives. */
import { join } from 'node:path';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { serverOf, type UrlTrouble } from '../faults/troubles.ts';
import { syncAll, writeFile } from './onDisk.ts';

/** The list of pods that the node asks for, where a story has one. */
export const MANIFEST_URL = 'http://manifests.example:80/pods';
export const MANIFEST_HOST = 'manifests.example';

/** What a manifest is called until it is whole: a node reads no file whose name begins so. */
const NEW = '.new';

export class ManifestPlace {
  readonly #disk: MemoryDisk;
  readonly #path: string;
  readonly #away: string;
  #isAway = false;
  /** The manifests that the URL lists, by the full names of the pods. */
  readonly #listed = new Map<string, object>();
  urlTrouble: UrlTrouble | undefined;

  constructor(disk: MemoryDisk, path: string) {
    this.#disk = disk;
    this.#path = path;
    this.#away = `${path}.away`;
  }

  /** Puts a manifest there whole and at once, as `mv` does. */
  put(file: string, text: string): void {
    this.write(NEW, text);
    this.rename(NEW, file);
  }

  /** Writes a manifest in place, as editors do that let others see half of it. */
  write(file: string, text: string): void {
    writeFile(this.#disk, this.#at(file), text);
    this.#keep();
  }

  remove(file: string): void {
    if (this.#disk.find(this.#at(file), 'unlink') !== undefined) this.#disk.unlink(this.#at(file));
    this.#keep();
  }

  rename(from: string, to: string): void {
    this.#disk.rename(this.#at(from), this.#at(to));
    this.#keep();
  }

  /** Takes the whole directory away; what is done to it meanwhile is done where it is. */
  goAway(): void {
    if (this.#isAway) return;
    this.#disk.rename(this.#path, this.#away);
    this.#isAway = true;
    this.#keep();
  }

  comeBack(): void {
    if (!this.#isAway) return;
    this.#disk.rename(this.#away, this.#path);
    this.#isAway = false;
    this.#keep();
  }

  list(pod: string, manifest: object): void {
    this.#listed.set(pod, manifest);
  }

  unlist(pod: string): void {
    this.#listed.delete(pod);
  }

  /** What the node finds at the URL. */
  server() {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [...this.#listed.values()] });
    return serverOf(text, this.urlTrouble);
  }

  #at(file: string): string {
    return join(this.#isAway ? this.#away : this.#path, file);
  }

  /** What users write is durable: only the agent's own is at stake when the power goes. */
  #keep(): void {
    const directory = this.#isAway ? this.#away : this.#path;
    this.#disk.sync(this.#disk.directoryAt(join(directory, '..'), 'fsync'));
    syncAll(this.#disk, this.#disk.directoryAt(directory, 'fsync'));
  }
}
