/** What entered an actor at a moment, out of a recording. */
import type { RecordingFile } from '../recording/recordingFile.ts';
import { linesFrom, partsBetween, type Stretch } from '../recording/stretches.ts';
import { shownPayload } from './payload.ts';
import type { ShownPayload } from './protocol.ts';

/** Which of all entries: several that came at one moment from one source are alike. */
export interface AskedEntry {
  readonly actor: string;
  readonly source: string;
  readonly at: number;
}

/** Undefined where nothing is recorded of it. */
export async function pastEntry(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { actor, source, at }: AskedEntry,
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
