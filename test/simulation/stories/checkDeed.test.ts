import { expect, test } from '@jest/globals';
import { checkDeed } from '../../../simulation/stories/checkDeed.ts';
import { storyOfAnySize } from '../../../simulation/stories/drawnStory.ts';
import { manifest } from '../../../simulation/stories/manifests.ts';
import { shortStories } from '../../../simulation/stories/shortStories.ts';
import type { Deed } from '../../../simulation/stories/story.ts';

/** What a program without types may give. */
const untyped = (value: unknown): Deed => value as Deed;

test('what stories tell of are deeds', () => {
  const drawn = Array.from({ length: 100 }, (_, seed) => storyOfAnySize(seed));
  const all = [...drawn, ...Object.values(shortStories)].flatMap(({ moments }) => moments);
  for (const { deed } of all) checkDeed(deed);
  expect(new Set(all.map(({ deed }) => deed.kind)).size).toBeGreaterThan(20);
});

test.each([undefined, null, 5, 'exit', {}, { kind: 'constructor' }, { kind: ['exit'] }])('%j is no deed', (deed) => {
  expect(() => checkDeed(untyped(deed))).toThrow('there is no such deed: ');
});

test.each([
  [{ kind: 'apply' }, 'apply: pod: Required value'],
  [{ kind: 'apply', pod: manifest('web'), by: 'mail' }, 'apply: by: '],
  [{ kind: 'writeInParts', pod: manifest('web'), share: 2, restMs: 5 }, 'writeInParts: share: '],
  [{ kind: 'remove' }, 'remove: pod: Required value'],
  [{ kind: 'scribble', file: '..', text: '' }, 'scribble: file: '],
  [{ kind: 'spoil', pod: 'web', how: 'well', forMs: 5 }, 'spoil: how: '],
  [{ kind: 'visit', uid: '../x', forMs: 5 }, 'visit: uid: Invalid value: "../x": expected a UID'],
  [{ kind: 'addresses', ips: [] }, 'addresses: ips: '],
  [{ kind: 'addresses', ips: ['here'] }, 'addresses: ips[0]: '],
  [{ kind: 'url', trouble: 'nope', forMs: 5 }, 'url: trouble: '],
  [{ kind: 'stall', forMs: Number.POSITIVE_INFINITY }, 'stall: forMs: '],
  [{ kind: 'registryDown', forMs: 5 }, 'registryDown: images: Required value'],
  [{ kind: 'oom', which: 0 }, 'oom: child: Required value'],
  [{ kind: 'flaky', room: 'bath', share: 1, forMs: 5 }, 'flaky: room: '],
  [{ kind: 'loseImage', image: 5 }, 'loseImage: image: '],
])('of the kind of %j there are others', (deed, message) => {
  expect(() => checkDeed(untyped(deed))).toThrow(`there is no such deed of the kind ${message}`);
});
