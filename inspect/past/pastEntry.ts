/** Reads the payload of an actor's input from a recording. */
import type { RecordingFile } from '../../recording/recordingFile.ts';
import { linesFrom, partsBetween, type Stretch } from '../../recording/stretches.ts';
import { shownPayload } from '../payload.ts';
import type { ShownPayload } from '../protocol.ts';

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
  for (const { stretch, beginning } of partsBetween(file, stretches, { from: at, to: at })) {
    if (stretch.foreign) continue;
    for await (const line of linesFrom(file, stretch, beginning, at)) {
      if (line.at === at && 'source' in line && line.actor === actor && line.source === source) {
        return shownPayload('value' in line ? line.value : undefined);
      }
    }
  }
  return undefined;
}
