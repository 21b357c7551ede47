import { expect, test } from '@jest/globals';
import { FORMAT_VERSION } from '../../recording/lines.ts';
import { RecordingError } from '../../recording/recordingError.ts';
import type { Member, RecordingFile } from '../../recording/recordingFile.ts';
import { findStretches } from '../../recording/stretches.ts';

const versions = { statelet: '1', node: '24' };
const began = (before: number) =>
  JSON.stringify({
    kind: 'began',
    at: 1,
    format: FORMAT_VERSION,
    machines: '',
    versions,
    life: 'a',
    input: {},
    before,
  });

/**
 * Returns a run of an agent in two files, some of whose members are damaged. Its members begin a run (`A`), continue it
 * with a keyframe (`a`), or do neither (`-`).
 */
function recording(begins: string, damaged: readonly number[], error: Error = new RecordingError('damaged')) {
  const members = [...begins].map((each, at): Member => {
    const head = { size: 1, at, entries: 0, failures: 0, offset: at, file: 'f' };
    return { ...head, startKind: each === 'A' ? 'anew' : each === 'a' ? 'again' : 'no' };
  });
  const failing = new Set(damaged);
  const lines = async ({ at }: Member) => {
    if (failing.has(at)) throw error;
    return [began(at)];
  };
  // `findStretches` uses nothing else of a recording.
  return { file: { members, lines, isLast: () => false } as unknown as RecordingFile, failing };
}

const spans = async (file: RecordingFile) =>
  (await findStretches(file)).map(({ replayStarts, end }) => [...replayStarts.map(({ member }) => member), end]);

test('a stretch contains everything that belongs to it', async () => {
  expect(await spans(recording('A-a-A-a-', []).file)).toEqual([[0, 2, 4, 6, 8]]);
});

test('a damaged start ends the previous stretch, and the next stretch starts at the next intact start', async () => {
  expect(await spans(recording('A-a-A-a-', [4]).file)).toEqual([
    [0, 2, 4],
    [6, 8],
  ]);
  expect(await spans(recording('A-a-A-A-', [4]).file)).toEqual([
    [0, 2, 4],
    [6, 8],
  ]);
  expect(await spans(recording('A-a-A-a-', [0]).file)).toEqual([[2, 4, 6, 8]]);
  expect(await spans(recording('A-A-', [0, 2]).file)).toEqual([]);
});

test('a failing disk is reported, and read again the next time', async () => {
  const { file, failing } = recording('A-', [0], new Error('EIO'));
  await expect(findStretches(file)).rejects.toThrow('EIO');
  failing.clear();
  expect(await spans(file)).toEqual([[0, 2]]);
});
