/** Reads the ends of the logs of a pod's failed containers. */
import { join } from 'node:path';
import { lastLogLines } from '../../../cri/terminationMessage.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { createLayout, type LayoutFolders } from '../../../host/pods/layout.ts';
import { type PodWithTree, podActors } from '../../../show/actors/podActors.ts';
import { type LogTail, type LogTails, lastFailedRun, latestRun } from '../../../show/logTail.ts';

const LINES = 5;
/** So much of a log's end is read for its last lines; a longer line is seen from where this begins. */
const LOG_END = 16_384;
const LONGEST_LINE = 500;

async function tailOf(files: FileSystem, file: string, count = LINES): Promise<LogTail | undefined> {
  try {
    const text = lastLogLines(await files.tail(file, LOG_END), count)
      .toString('utf8')
      .trimEnd();
    const lines = text === '' ? [] : text.split('\n');
    return { file, lines: lines.map((line) => line.slice(-LONGEST_LINE)) };
  } catch {
    // It was rotated away or removed, or never made: then there is nothing to tell.
    return undefined;
  }
}

/** What the failed containers of a pod said last; those that did not fail, or have no log, are not in it. */
export async function readLogTails(seen: PodWithTree, folders: LayoutFolders): Promise<LogTails> {
  const { containerLogDir, files } = createLayout(folders);
  const found = podActors(seen).containers.map(async (container) => {
    const { name } = container.actor;
    const run = lastFailedRun(container);
    const tail =
      run === undefined ? undefined : await tailOf(files, join(containerLogDir(seen.pod.metadata, name), `${run}.log`));
    return tail ? [[name, tail] as const] : [];
  });
  return new Map((await Promise.all(found)).flat());
}

/** Of one container that somebody asks for, more is told, and what its run says that goes on. */
const LATEST_LINES = 10;

/** How the log of a container ends that it writes, or wrote last; undefined where there is none. */
export async function readLatestLog(
  seen: PodWithTree,
  name: string,
  folders: LayoutFolders,
): Promise<LogTail | undefined> {
  const { containerLogDir, files } = createLayout(folders);
  const container = podActors(seen).containers.find(({ actor }) => actor.name === name);
  const run = container && latestRun(container);
  if (run === undefined) return undefined;
  return tailOf(files, join(containerLogDir(seen.pod.metadata, name), `${run}.log`), LATEST_LINES);
}
