/** The last lines of a container's log, read from its files for each request of the page. */

import { NodeFailure } from '../base/failure.ts';
import type { LogPlace } from '../host/logs/openLog.ts';
import { readLog } from '../host/logs/readLog.ts';
import { UnpackedTails } from '../host/logs/unpackedTails.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import { isRunning, selectRun } from '../show/containerLog.ts';
import type { PodPlaces } from '../socket/agent.ts';
import type { ShownLog } from './protocol.ts';

/** Maximum number of lines that are sent, and of bytes that they are taken from. */
const MAX_LINES = 1_000;
const MAX_BYTES = 2 ** 19;
/** Bytes of the files that contain so much of a log, with the time and the stream before each line or part of one. */
const MAX_FILE_BYTES = 2 * MAX_BYTES;

/** Rotated files whose ends stay in memory: those of the container that the page shows. */
const MAX_TAILS = 4;

/** Returns a cache of the ends of compressed files, which the page's requests would otherwise decompress each time. */
export const createTails = (): UnpackedTails => new UnpackedTails({ maxBytes: MAX_FILE_BYTES, maxFiles: MAX_TAILS });

interface LogParts {
  readonly tails: UnpackedTails;
  /** Ends the reading, because the client has gone. */
  readonly signal: AbortSignal;
  readonly pod: Pod;
  readonly container: string;
  readonly places: Pick<PodPlaces, 'podLogs' | 'logs'>;
}

/** Returns the end of the log of the present run of a container, or of its last one. Says in words why there is none. */
export async function shownLog({ pod, container, places, ...reading }: LogParts): Promise<ShownLog> {
  try {
    const logged = selectRun(pod, container);
    const { run } = logged;
    const place = { root: places.podLogs, directory: `${places.logs}/${container}`, run };
    return { run: run + 1, isRunning: isRunning(pod, container, logged), ...(await lastLines(place, reading)) };
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error;
    return { isRunning: false, lines: [], note: error.message };
  }
}

async function lastLines(
  place: LogPlace,
  reading: Pick<LogParts, 'tails' | 'signal'>,
): Promise<Pick<ShownLog, 'lines' | 'isCut'>> {
  const options = { tailLines: MAX_LINES, tailBytes: MAX_FILE_BYTES, ...reading };
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of readLog(place, options)) {
    chunks.push(chunk);
    length += chunk.length;
    // If the lines are too long for this, only their end is sent.
    while (chunks.length > 1 && length - (chunks[0]?.length ?? 0) >= MAX_BYTES) length -= chunks.shift()?.length ?? 0;
  }
  const text = Buffer.concat(chunks).subarray(-MAX_BYTES).toString('utf8').replace(/\n$/, '');
  const lines = text === '' ? [] : text.split('\n');
  return { lines, isCut: lines.length >= MAX_LINES || length >= MAX_BYTES };
}
