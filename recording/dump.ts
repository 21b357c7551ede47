import { isMissing } from '../host/files/fileErrors.ts';
import { type Member, RecordingFile } from './recordingFile.ts';

/**
 * All that is whole of the recording at a path, in parts, from where it can be replayed on; undefined where there is
 * nothing. What a recorder removes meanwhile is left out.
 */
export async function bytesOf(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const file = await RecordingFile.open(path);
  const first = file.members.findIndex(({ begins }) => begins !== 'no');
  return first < 0 ? undefined : parts(file, file.members.slice(first));
}

async function* parts(file: RecordingFile, members: readonly Member[]): AsyncGenerator<Uint8Array> {
  for (const member of members) {
    const bytes = await file.bytes(member).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      return undefined;
    });
    if (bytes) yield bytes;
  }
}
