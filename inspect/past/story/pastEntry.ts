/** Reads the payload of an actor's input from a recording. */
import type { RecordingFile } from '../../../recording/recordingFile.ts';
import { findPositionsBetween, readStretchLines, type Stretch } from '../../../recording/stretches.ts';
import { toShownPayload } from '../../payload.ts';
import type { ShownPayload } from '../../protocol.ts';

/** Identifies an input. Inputs with the same actor, source and time are considered equal. */
export interface EntryQuery {
  readonly actor: string;
  readonly source: string;
  readonly at: number;
}

/** Returns the payload of an input, or undefined if the input was not recorded. */
export async function readPastEntry(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { actor, source, at }: EntryQuery,
): Promise<ShownPayload | undefined> {
  for (const { stretch, replayStart } of findPositionsBetween(file, stretches, { from: at, to: at })) {
    if (stretch.foreign) continue;
    for await (const line of readStretchLines(file, stretch, replayStart, at)) {
      if (line.at === at && 'source' in line && line.actor === actor && line.source === source) {
        return toShownPayload('value' in line ? line.value : undefined);
      }
    }
  }
  return undefined;
}
