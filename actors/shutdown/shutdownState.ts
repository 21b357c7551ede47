/** Stores the times of the last shutdown in the kubelet's file, so that the shutdown metrics survive a reboot. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { replaceFile } from '../../host/files/replaceFile.ts';
import { isoTime } from '../../kubernetes/api/values/rfc3339.ts';
import type { ShutdownTimes } from '../../machines/shutdown/context.ts';

const FILE_NAME = 'graceful_node_shutdown_state';
/** Go's zero time, which stands for an unset time. */
const ZERO_TIME = '0001-01-01T00:00:00Z';

const timeSchema = z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)), { error: 'expected a time' }));
const stateSchema = z.looseObject({ startTime: timeSchema, endTime: timeSchema });

export class ShutdownState {
  readonly #files: FileSystem;
  readonly #path: string;

  constructor(files: FileSystem, rootDir: string) {
    this.#files = files;
    this.#path = join(rootDir, FILE_NAME);
  }

  /** Returns the times of the last shutdown, or undefined if there was none. Rejects if the file is damaged. */
  async load(): Promise<ShutdownTimes | undefined> {
    try {
      const content: unknown = JSON.parse((await this.#files.readFile(this.#path)).toString());
      const { startTime, endTime } = stateSchema.parse(content);
      if (startTime === ZERO_TIME) return undefined;
      const startedAt = Date.parse(startTime);
      return endTime === ZERO_TIME ? { startedAt } : { startedAt, endedAt: Date.parse(endTime) };
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      const message = `Failed to load graceful shutdown state ${this.#path}: ${messageOf(cause)}`;
      throw new NodeFailure('StoreDamaged', message, { cause });
    }
  }

  async save({ startedAt, endedAt }: ShutdownTimes): Promise<void> {
    const endTime = endedAt === undefined ? ZERO_TIME : isoTime(endedAt);
    const content = JSON.stringify({ startTime: isoTime(startedAt), endTime });
    await replaceFile(this.#files, this.#path, { content, mode: 0o644 });
  }
}
