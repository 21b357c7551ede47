import { expect, test } from '@jest/globals';
import { formatStory } from '../../recording/formatStory.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { podRunning } from '../fakes/pods.ts';
import { recordedNode } from './recorded.ts';

test('the story contains pods, calls with their durations, states and events up to a given time', async () => {
  const { directory, live, restart, recorder } = await recordedNode({ pods: [podRunning('bad', 'exit 3')] });
  await live(1);
  await restart();
  await live(1);
  await recorder.flush();
  const lines: string[] = [];
  const file = await RecordingFile.open(directory);
  for await (const line of formatStory(file, { until: Number.POSITIVE_INFINITY })) lines.push(line);
  expect(lines[0]).toBe('2026-01-01T00:00:00.000Z  agent: started, statelet 0.1.0');
  expect(lines.filter((line) => line.includes('agent: started'))).toHaveLength(2);
  const story = lines.join('\n');
  for (const expected of [
    /Z {2}sources: config\.podsListed$/m,
    /default\/bad\/container\/main\/0\.container\.launching\.creatingContainer\.creating: createContainer main \.\.\.$/m,
    /: createContainer \d+ms ok$/m,
    /default\/bad\/container\/main: -> ended\.backingOff$/m,
    /default\/bad\/container\/main\/0\.container\.ended\.backingOff: timer$/m,
    /default\/bad: status Running$/m,
    /default\/bad: Warning BackOff: Back-off restarting failed container main/m,
  ])
    expect(story).toMatch(expected);
  // Each pod is shown with its name from the first line on.
  expect(story).not.toContain('pod/bad-uid');
  const early: string[] = [];
  for await (const line of formatStory(file, { until: Date.UTC(2026, 0, 1, 0, 0, 0, 500) })) early.push(line);
  expect(early.length).toBeGreaterThan(5);
  expect(early).toEqual(lines.slice(0, early.length));
  expect(early.every((line) => line < '2026-01-01T00:00:00.501Z')).toBe(true);
});
