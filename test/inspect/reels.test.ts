import { expect, test } from '@jest/globals';
import { Reels } from '../../inspect/reels.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { stretchesOf } from '../../recording/stretches.ts';
import { podRunning } from '../fakes/pods.ts';
import { MACHINES, recordedNode } from '../recording/recorded.ts';

/** The same lines, the last of which cannot be read. */
const failing = (lines: readonly string[]): readonly string[] => ({
  ...lines,
  *[Symbol.iterator]() {
    yield* lines.slice(0, -1);
    throw new Error('EIO');
  },
});

test('a part that failed in the midst of a member is played anew', async () => {
  const { live, directory } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(4);
  const file = await RecordingFile.open(directory);
  const stretches = await stretchesOf(file);
  const whole = await new Reels(MACHINES).at(8.64e15, { file, stretches });
  const broken: Pick<RecordingFile, 'members' | 'isLast' | 'lines'> = {
    members: file.members,
    isLast: (member) => file.isLast(member),
    lines: async (member) => (member === file.members[2] ? failing(await file.lines(member)) : file.lines(member)),
  };
  const reels = new Reels(MACHINES);
  // Of a recording only these are asked.
  const opened = { file: broken as unknown as RecordingFile, stretches };
  await expect(reels.at(8.64e15, opened)).rejects.toThrow('EIO');
  expect(await reels.at(8.64e15, { file, stretches })).toEqual(whole);
});
