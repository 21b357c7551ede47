/** Status that is withheld until it is on disk, while a recording starts a new file or ends. */
import { describe, expect, test } from '@jest/globals';
import type { NodeStore } from '../../actors/store/durableFacts.ts';
import type { RecordingLine } from '../../recording/lines.ts';
import { readLine } from '../../recording/readLine.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { containerWith, podWith } from '../fakes/pods.ts';
import { checkedStretches, type Recorded, recordedNode } from './recorded.ts';

/** Size of the recording that is so small that each write starts with a keyframe and removes all earlier data. */
const TINY = 1;

const readinessProbe = { exec: { command: ['ready'] }, periodSeconds: 1 };
const probed = podWith('web', { containers: [containerWith('main', { readinessProbe })] });

/** Creates a node with a pod that is ready, while the write that records its readiness has not completed. */
async function withUnsavedReadiness(sizeBytes?: number): Promise<Recorded & { readonly save: () => void }> {
  const { promise, resolve: save } = Promise.withResolvers<void>();
  const store = (real: NodeStore): NodeStore => ({
    ...real,
    write: (...given) =>
      given[0] === 'probes' && JSON.stringify(given[2]).includes('"ready":true')
        ? promise.then(() => real.write(...given))
        : real.write(...given),
  });
  const recorded = await recordedNode({ pods: [probed], store, ...(sizeBytes === undefined ? {} : { sizeBytes }) });
  await recorded.node.advance('100ms');
  // If the first file is full by now, the next one starts with a keyframe.
  await recorded.recorder.flush();
  for (let step = 0; step < 40 && recorded.node.agent.unpublishedUids().length === 0; step += 1)
    await recorded.node.advance('100ms');
  expect(recorded.node.agent.unpublishedUids()).toEqual(['web-uid']);
  return { ...recorded, save };
}

async function linesOf(path: string): Promise<RecordingLine[]> {
  const file = await RecordingFile.open(path);
  const texts = (await Promise.all(file.members.map((member) => file.lines(member)))).flat();
  return texts.flatMap((text) => readLine(text) ?? []);
}

const isReady = (line: RecordingLine) =>
  line.kind === 'status' &&
  line.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

describe('a status that is withheld', () => {
  test.each(['is published after it', 'is published after it, followed by another one'])(
    'when a keyframe is written %s',
    async (how) => {
      const { node, directory, recorder, save } = await withUnsavedReadiness(TINY);
      if (how.endsWith('one')) {
        // The pod is removed before its readiness was published.
        node.remove('web');
        await node.advance('1s');
      }
      // After the second flush, nothing recorded earlier is left.
      await recorder.flush();
      await recorder.flush();
      await node.advance('500ms');
      save();
      await node.advance('40s');
      await node.agent.stop();
      await recorder.close();
      const lines = await linesOf(directory);
      const [began] = lines;
      const untold = began?.kind === 'began' ? began.from?.untold : [];
      expect(untold?.[0]).toMatchObject({ uid: 'web-uid' });
      expect(lines.some(isReady)).toBe(true);
      const [checked, ...others] = await checkedStretches(directory);
      expect(others).toEqual([]);
      expect(checked?.difference).toBeUndefined();
      expect(checked?.statuses).toBeGreaterThan(0);
    },
  );

  test('when the agent is stopped causes no difference, because it is never published', async () => {
    const { node, directory, recorder, save } = await withUnsavedReadiness();
    // Stopping the agent waits for the disk.
    const stopped = node.agent.stop();
    save();
    await node.advance('1s');
    await stopped;
    await recorder.close();
    const lines = await linesOf(directory);
    expect(lines.at(-1)).toMatchObject({ kind: 'ended', untold: ['web-uid'] });
    expect(lines.some(isReady)).toBe(false);
    expect((await checkedStretches(directory)).map(({ difference }) => difference)).toEqual([undefined]);
  });
});
