import { expect, test } from '@jest/globals';
import { manifest } from '../../../../../testing/simulation/stories/manifests.ts';
import type { Story } from '../../../../../testing/simulation/stories/story.ts';
import { withEveryAction } from '../../../../../testing/simulation/stories/variants/everyAction.ts';

const story: Story = {
  seed: 1,
  faults: [],
  lastsMs: 100,
  actions: [
    { at: 60, action: { kind: 'remove', pod: 'default/web-node-1' } },
    { at: 20, action: { kind: 'apply', pod: manifest('web') } },
  ],
};
const added = (times: readonly number[]) =>
  [...withEveryAction(story, times)].map(({ actions }) => {
    expect(actions.slice(0, -1)).toEqual(story.actions);
    return actions.at(-1);
  });

test('each action occurs at the time of each call, once for simultaneous calls, and not after the faults have ended', () => {
  const at = added([10, 10, 30, 100, 200]).map((moment) => moment?.at);
  expect(new Set(at)).toEqual(new Set([10, 30]));
  const actions = added([10]).map((moment) => JSON.stringify(moment?.action));
  expect(new Set(actions).size).toBe(actions.length);
});

test('actions target containers, the runtime, its lists and events, the clock, the disk, manifests, the host and the agent', () => {
  const kinds = new Set(added([30]).map((moment) => moment?.action.kind));
  expect([...kinds].toSorted()).toEqual(
    [
      'exit',
      'oom',
      'systemOom',
      'killSandbox',
      'removeSandbox',
      'events',
      'runtimeDown',
      'stall',
      'lists',
      'jump',
      'disk',
      'scribble',
      'spoil',
      'manifestsGone',
      'watches',
      'writeInParts',
      'powerCut',
      'killAgent',
      'visit',
      'addresses',
      'cgroupsReadOnly',
      'remove',
      'apply',
    ].toSorted(),
  );
});

test('a pod from a URL is changed in the list of the URL, and in no file', () => {
  const listed: Story = {
    seed: 1,
    faults: [],
    lastsMs: 100,
    actions: [{ at: 0, action: { kind: 'apply', by: 'url', pod: manifest('web') } }],
  };
  const actions = [...withEveryAction(listed, [10])].flatMap(({ actions }) => actions.at(-1)?.action ?? []);
  const kinds = new Set(actions.map(({ kind }) => kind));
  expect([kinds.has('url'), kinds.has('writeInParts'), kinds.has('spoil')]).toEqual([true, false, false]);
  expect(actions.filter(({ kind }) => kind === 'apply')).toMatchObject([{ by: 'url' }]);
});

test('a manifest is partially written only while it exists', () => {
  const isWritten = (at: number) => added([at]).some((moment) => moment?.action.kind === 'writeInParts');
  expect([10, 20, 59, 60].map(isWritten)).toEqual([false, true, true, false]);
});
