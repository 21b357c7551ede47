/** Reads the last log lines of a pod's containers. */
import { join } from 'node:path';
import { takeLastLogLines } from '../../../cri/terminationMessage.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { createLayout, type LayoutFolders } from '../../../host/pods/layout.ts';
import { type PodWithTree, podActors } from '../../../show/actors/podActors.ts';
import { type LogTail, type LogTails, lastFailedRun, latestRun } from '../../../show/logTail.ts';

const FAILED_RUN_LINES = 5;
/** Number of bytes to read from the end of a log. A longer line is truncated at the start. */
const LOG_TAIL_BYTES = 16_384;
const MAX_LINE_LENGTH = 500;

async function readTail(files: FileSystem, file: string, count = FAILED_RUN_LINES): Promise<LogTail | undefined> {
  try {
    const logLines = takeLastLogLines(await files.tail(file, LOG_TAIL_BYTES), count)
      .toString('utf8')
      .trimEnd();
    const lines = logLines === '' ? [] : logLines.split('\n');
    return { file, lines: lines.map((line) => line.slice(-MAX_LINE_LENGTH)) };
  } catch {
    // The log does not exist, because it was rotated, removed, or never created.
    return undefined;
  }
}

/** Returns the last log lines of the pod's failed containers that have a log. */
export async function readLogTails(podWithTree: PodWithTree, folders: LayoutFolders): Promise<LogTails> {
  const { containerLogDir, files } = createLayout(folders);
  const logTails = podActors(podWithTree).containers.map(async (container) => {
    const { name } = container.actor;
    const run = lastFailedRun(container);
    const logTail =
      run === undefined
        ? undefined
        : await readTail(files, join(containerLogDir(podWithTree.pod.metadata, name), `${run}.log`));
    return logTail ? [[name, logTail] as const] : [];
  });
  return new Map((await Promise.all(logTails)).flat());
}

/**
 * Number of log lines to show for an individual container. The lines are from the container's latest run, even if that
 * run has not failed.
 */
const LATEST_RUN_LINES = 10;

/** Returns the last log lines of the container's latest run, or undefined if there is no log. */
export async function readLatestLog(
  podWithTree: PodWithTree,
  name: string,
  layoutFolders: LayoutFolders,
): Promise<LogTail | undefined> {
  const { containerLogDir, files } = createLayout(layoutFolders);
  const container = podActors(podWithTree).containers.find(({ actor }) => actor.name === name);
  const run = container && latestRun(container);
  if (run === undefined) return undefined;
  return readTail(files, join(containerLogDir(podWithTree.pod.metadata, name), `${run}.log`), LATEST_RUN_LINES);
}
