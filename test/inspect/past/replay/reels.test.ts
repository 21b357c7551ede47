import { expect, test } from '@jest/globals';
import { Reel, type ShownState } from '../../../../inspect/past/replay/reel.ts';
import { Reels } from '../../../../inspect/past/replay/reels.ts';
import { StretchPlayer } from '../../../../recording/play.ts';
import { RecordingFile } from '../../../../recording/recordingFile.ts';
import { findStretches } from '../../../../recording/stretches.ts';
import { Random } from '../../../../testing/simulation/random.ts';
import { podRunning, podWith } from '../../../fakes/pods.ts';
import { MACHINES, recordedNode } from '../../../recording/recorded.ts';

/** Returns the same lines, of which the last one cannot be read. */
const failing = (lines: readonly string[]): readonly string[] => ({
  ...lines,
  *[Symbol.iterator]() {
    yield* lines.slice(0, -1);
    throw new Error('EIO');
  },
});

test('a point in time equals the state of the full agent, in whatever order times are requested', async () => {
  const { live, restart, node, directory } = await recordedNode({
    pods: [podRunning('bad', 'exit 1'), podRunning('job', 'exit 0', { restartPolicy: 'Never' }), podWith('web')],
  });
  await live(1);
  node.remove('web');
  node.apply(podRunning('late', 'sleep 20; exit 3'));
  await live(2);
  await restart();
  await live(1);
  const file = await RecordingFile.open(directory);
  const stretches = await findStretches(file);
  const expected = new Map<number, unknown>();
  for (const stretch of stretches) {
    for (const beginning of stretch.replayStarts) {
      const player = await StretchPlayer.create(file, stretch, beginning, { machines: MACHINES });
      await player.playTo(8.64e15, file, stretch, (at) => {
        const whole = new Reel(stretch.versions.statelet);
        whole.addState(player.agent, at);
        expected.set(at, byPath(whole.stateAt(at)));
      });
      await player.agent.stop();
    }
  }
  expect(expected.size).toBeGreaterThan(50);
  const reels = new Reels(MACHINES);
  const random = new Random(7);
  for (const [at, moment] of random.sample([...expected], expected.size)) {
    expect([at, byPath(await reels.stateAt(at, { file, stretches }))]).toEqual([at, moment]);
  }
});

/** Returns the state with its actors by path, because their order does not matter. */
const byPath = (moment: ShownState | undefined) =>
  moment && { ...moment, actors: Object.fromEntries(moment.actors.map((actor) => [actor.path, actor])) };

test('a replay that failed within a member is repeated', async () => {
  const { live, directory } = await recordedNode({ pods: [podRunning('bad', 'exit 1')] });
  await live(4);
  const file = await RecordingFile.open(directory);
  const stretches = await findStretches(file);
  const whole = await new Reels(MACHINES).stateAt(8.64e15, { file, stretches });
  const broken: Pick<RecordingFile, 'members' | 'isLast' | 'lines'> = {
    members: file.members,
    isLast: (member) => file.isLast(member),
    lines: async (member) => (member === file.members[2] ? failing(await file.lines(member)) : file.lines(member)),
  };
  const reels = new Reels(MACHINES);
  // The reels use nothing else of a recording.
  const opened = { file: broken as unknown as RecordingFile, stretches };
  await expect(reels.stateAt(8.64e15, opened)).rejects.toThrow('EIO');
  expect(await reels.stateAt(8.64e15, { file, stretches })).toEqual(whole);
});
