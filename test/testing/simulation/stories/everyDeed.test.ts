import { expect, test } from '@jest/globals';
import { withEveryDeed } from '../../../../testing/simulation/stories/everyDeed.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';
import type { Story } from '../../../../testing/simulation/stories/story.ts';

const story: Story = {
  seed: 1,
  faults: [],
  lastsMs: 100,
  moments: [
    { at: 60, deed: { kind: 'remove', pod: 'default/web-node-1' } },
    { at: 20, deed: { kind: 'apply', pod: manifest('web') } },
  ],
};
const added = (times: readonly number[]) =>
  [...withEveryDeed(story, times)].map(({ moments }) => {
    expect(moments.slice(0, -1)).toEqual(story.moments);
    return moments.at(-1);
  });

test('each deed is done at each moment, once where several calls are made then, and none when faults have ended', () => {
  const at = added([10, 10, 30, 100, 200]).map((moment) => moment?.at);
  expect(new Set(at)).toEqual(new Set([10, 30]));
  const deeds = added([10]).map((moment) => JSON.stringify(moment?.deed));
  expect(new Set(deeds).size).toBe(deeds.length);
});

test('containers, the runtime, its lists and events, the clock, the disk, manifests, the host and the agent are struck', () => {
  const kinds = new Set(added([30]).map((moment) => moment?.deed.kind));
  expect([...kinds].toSorted()).toEqual(
    [
      'exit',
      'oom',
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

test('what a URL lists is changed in its list, and in no file', () => {
  const listed: Story = {
    seed: 1,
    faults: [],
    lastsMs: 100,
    moments: [{ at: 0, deed: { kind: 'apply', by: 'url', pod: manifest('web') } }],
  };
  const deeds = [...withEveryDeed(listed, [10])].flatMap(({ moments }) => moments.at(-1)?.deed ?? []);
  const kinds = new Set(deeds.map(({ kind }) => kind));
  expect([kinds.has('url'), kinds.has('writeInParts'), kinds.has('spoil')]).toEqual([true, false, false]);
  expect(deeds.filter(({ kind }) => kind === 'apply')).toMatchObject([{ by: 'url' }]);
});

test('a manifest is half-written only while it is there', () => {
  const isWritten = (at: number) => added([at]).some((moment) => moment?.deed.kind === 'writeInParts');
  expect([10, 20, 59, 60].map(isWritten)).toEqual([false, true, true, false]);
});
