import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readPastStory } from '../../../../inspect/past/story/pastStory.ts';
import { deflate } from '../../../../recording/deflate.ts';
import type { SegmentHeader } from '../../../../recording/lines.ts';
import { encodeMember } from '../../../../recording/member.ts';
import { RecordingFile } from '../../../../recording/recordingFile.ts';
import { findStretches } from '../../../../recording/stretches.ts';
import { podWith } from '../../../fakes/pods.ts';
import { recordedNode } from '../../../recording/recorded.ts';

const MANY = 45_000;

interface Written {
  readonly at: number;
  readonly text: string;
  readonly startKind: 'anew' | 'again' | 'no';
}

/** Creates a recording of the members that `make` derives from the beginning of a real one. */
async function recordingOf(make: (began: SegmentHeader) => readonly Written[]): Promise<RecordingFile> {
  const { directory, recorder } = await recordedNode({ pods: [podWith('web')] });
  await recorder.flush();
  const real = await RecordingFile.open(directory);
  const [first] = real.members;
  const [began = ''] = first ? await real.lines(first) : [];
  const path = join(directory, '..', 'made.gz');
  const parts = make(JSON.parse(began)).map((each) => encodeMember({ ...each, entries: 1, failures: 0 }, deflate));
  await writeFile(path, Buffer.concat(await Promise.all(parts)));
  return RecordingFile.open(path);
}

const moved = (at: number, state: string) => JSON.stringify({ kind: 'state', at, actor: 'pod/web-uid', state });

const beganAnew = (began: SegmentHeader, at: number, life: string): Written => ({
  at,
  startKind: 'anew',
  text: `${JSON.stringify({ ...began, at, life })}\n`,
});

const movedIn = (at: number, state: string): Written => ({ at, startKind: 'no', text: `${moved(at, state)}\n` });

/** Creates a recording of one actor that changes its state every millisecond. */
const longRecording = () =>
  recordingOf((began) => {
    const moves = Array.from({ length: MANY }, (_, index) => moved(began.at + index, `state-${index}`));
    return [beganAnew(began, began.at, 'life'), { at: began.at, startKind: 'no', text: `${moves.join('\n')}\n` }];
  });

test('a history that is too long contains the latest lines, and the rest is counted', async () => {
  const file = await longRecording();
  const stretches = await findStretches(file);
  const from = stretches[0]?.replayStarts[0]?.at ?? 0;
  const asked = { uid: 'web-uid', from: from + 1_000, to: from + MANY };
  const { before, lines, unsaid } = await readPastStory(file, stretches, asked);
  expect(before).toEqual([{ actor: 'pod/web-uid', state: 'state-999', since: from + 999 }]);
  expect([lines.length, unsaid]).toEqual([20_000, MANY - 1_000 - 20_000]);
  expect(lines[0]).toMatchObject({ at: from + MANY - 20_000 });
  expect(lines.at(-1)).toMatchObject({ at: from + MANY - 1 });
  // A span that is short enough to read is returned completely.
  const short = await readPastStory(file, stretches, { ...asked, to: from + 1_999 });
  expect([short.lines.length, short.unsaid]).toEqual([1_000, undefined]);
});

test('a history that is too long to read at once starts at a later point', async () => {
  const file = await recordingOf((began) => [
    beganAnew(began, 1_000, 'one'),
    movedIn(1_001, 'a'),
    movedIn(1_002, 'b'),
    { ...beganAnew(began, 2_000, 'one'), startKind: 'again' as const },
    movedIn(2_001, 'c'),
    beganAnew(began, 3_000, 'two'),
    movedIn(3_001, 'd'),
  ]);
  const stretches = await findStretches(file);
  const sizeOf = (from: number) => file.members.slice(from).reduce((sum, { size }) => sum + size, 0);
  const storyOf = async (mostBytes: number) => {
    const { lines, unsaid } = await readPastStory(file, stretches, {
      uid: 'web-uid',
      from: 0,
      to: 9_000,
      maxBytes: mostBytes,
    });
    return [lines.flatMap((line) => (line.kind === 'state' ? line.state : [])).join(''), unsaid];
  };
  expect(await storyOf(sizeOf(0))).toEqual(['abcd', undefined]);
  expect(await storyOf(sizeOf(0) - 1)).toEqual(['cd', 3]);
  expect(await storyOf(sizeOf(3))).toEqual(['cd', 3]);
  expect(await storyOf(sizeOf(3) - 1)).toEqual(['d', 5]);
  // At least one line is always returned.
  expect(await storyOf(1)).toEqual(['d', 5]);
});

test('an agent run recorded by a different version is skipped except for its start, and the others are read', async () => {
  const file = await recordingOf((began) => [
    beganAnew(began, 1_000, 'one'),
    movedIn(1_001, 'a'),
    { ...beganAnew({ ...began, format: 3 as 2 }, 2_000, 'two') },
    movedIn(2_001, 'b'),
    beganAnew(began, 3_000, 'three'),
    movedIn(3_001, 'c'),
  ]);
  const { lines } = await readPastStory(file, await findStretches(file), { uid: 'web-uid', from: 0, to: 9_000 });
  expect(lines.map((line) => [line.at, line.kind === 'state' ? line.state : line.kind])).toEqual([
    [1_000, 'began'],
    [1_001, 'a'],
    [2_000, 'began'],
    [3_000, 'began'],
    [3_001, 'c'],
  ]);
});

test('a history is complete between two points in time even if the clock was set back, within an agent run and after it', async () => {
  const file = await recordingOf((began) => [
    beganAnew(began, 5_000, 'one'),
    movedIn(5_001, 'a'),
    movedIn(3_000, 'b'),
    movedIn(3_001, 'c'),
    beganAnew(began, 1_000, 'two'),
    movedIn(1_001, 'd'),
    movedIn(3_002, 'e'),
  ]);
  const statesIn = async (from: number, to: number) => {
    const { lines } = await readPastStory(file, await findStretches(file), { uid: 'web-uid', from, to });
    return lines.flatMap((line) => (line.kind === 'state' ? line.state : [])).join('');
  };
  expect(await statesIn(3_000, 4_000)).toBe('bce');
  expect(await statesIn(4_000, 6_000)).toBe('a');
  expect(await statesIn(0, 2_000)).toBe('d');
});
