/** What is known of a pod and held back until it is on disk, while a recording begins anew or ends. */
import { describe, expect, test } from '@jest/globals';
import type { NodeStore } from '../../actors/store/durableFacts.ts';
import type { RecordingLine } from '../../recording/lines.ts';
import { readLine } from '../../recording/readLine.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { containerWith, podWith } from '../fakes/pods.ts';
import { checkedStretches, type Recorded, recordedNode } from './recorded.ts';

/** So small that each time something is written a keyframe is, and nothing is kept of before it. */
const TINY = 1;

const readinessProbe = { exec: { command: ['ready'] }, periodSeconds: 1 };
const probed = podWith('web', { containers: [containerWith('main', { readinessProbe })] });

/** A node that has a pod which is ready, and whose disk has yet to say that it knows that. */
async function withUntold(sizeBytes?: number): Promise<Recorded & { readonly save: () => void }> {
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
  // The next one begins with a keyframe, where the first file is full by then.
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
  test.each(['is told after it', 'is told after it, and then another one'])(
    'when a keyframe is written %s',
    async (how) => {
      const { node, directory, recorder, save } = await withUntold(TINY);
      if (how.endsWith('one')) {
        // It is gone before it has been told that it was ready.
        node.remove('web');
        await node.advance('1s');
      }
      // Twice: then nothing is left of what came before it.
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

  test('when the agent is stopped is no difference, because it is never published', async () => {
    const { node, directory, recorder, save } = await withUntold();
    // What keeps the facts waits for the disk.
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
