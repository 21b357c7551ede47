/** Reads the last lines of a container's log from its files on each request from the page. */

import { NodeFailure } from '../base/failure.ts';
import type { LogLocation } from '../host/logs/openLog.ts';
import { readLog } from '../host/logs/readLog.ts';
import { UnpackedTails } from '../host/logs/unpackedTails.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { isRunning, selectRun } from '../show/containerLog.ts';
import type { PodPaths } from '../socket/agent.ts';
import type { ShownLog } from './protocol.ts';

/** Maximum number of lines to send. Earlier lines are omitted. */
const MAX_LINES = 1_000;
/** Maximum total size of the lines to send, in bytes. Earlier lines are omitted. */
const MAX_BYTES = 2 ** 19;
/**
 * Maximum number of bytes to read from the files. It exceeds `MAX_BYTES`, because each line in the files also has a
 * timestamp and a stream name.
 */
const MAX_FILE_BYTES = 2 * MAX_BYTES;

/** Number of rotated files whose ends are cached. This is enough for the container that the page shows. */
const MAX_CACHED_TAILS = 4;

/** Creates a cache for the ends of compressed files, which would otherwise be decompressed on each request. */
export const createTailCache = (): UnpackedTails =>
  new UnpackedTails({ maxBytes: MAX_FILE_BYTES, maxFiles: MAX_CACHED_TAILS });

interface LogSource {
  readonly tails: UnpackedTails;
  /** Aborts the read when the client disconnects. */
  readonly signal: AbortSignal;
  readonly pod: Pod;
  readonly container: string;
  readonly podPaths: Pick<PodPaths, 'podLogs' | 'logs'>;
}

/**
 * Returns the end of the log of a container's current or last run. If there is no log, the result contains a note with
 * the reason.
 */
export async function readShownLog({ pod, container, podPaths, ...reading }: LogSource): Promise<ShownLog> {
  try {
    const loggedRun = selectRun(pod, container);
    const { run } = loggedRun;
    const logLocation = { root: podPaths.podLogs, directory: `${podPaths.logs}/${container}`, run };
    return {
      run: run + 1,
      isRunning: isRunning(pod, container, loggedRun),
      ...(await readLastLines(logLocation, reading)),
    };
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error;
    return { isRunning: false, lines: [], note: error.message };
  }
}

async function readLastLines(
  location: LogLocation,
  { tails, signal }: Pick<LogSource, 'tails' | 'signal'>,
): Promise<Pick<ShownLog, 'lines' | 'isCut'>> {
  const tailOptions = { tailLines: MAX_LINES, tailBytes: MAX_FILE_BYTES, unpackedTails: tails, signal };
  const chunks: Buffer[] = [];
  let totalBytes = 0;
  for await (const chunk of readLog(location, tailOptions)) {
    chunks.push(chunk);
    totalBytes += chunk.length;
    // Drop the earliest chunks, because only the last `MAX_BYTES` are sent.
    while (chunks.length > 1 && totalBytes - (chunks[0]?.length ?? 0) >= MAX_BYTES)
      totalBytes -= chunks.shift()?.length ?? 0;
  }
  const logText = Buffer.concat(chunks).subarray(-MAX_BYTES).toString('utf8').replace(/\n$/, '');
  const logLines = logText === '' ? [] : logText.split('\n');
  return { lines: logLines, isCut: logLines.length >= MAX_LINES || totalBytes >= MAX_BYTES };
}
