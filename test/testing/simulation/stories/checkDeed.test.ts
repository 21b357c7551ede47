import { expect, test } from '@jest/globals';
import { checkDeed } from '../../../../testing/simulation/stories/checkDeed.ts';
import { storyOfAnySize } from '../../../../testing/simulation/stories/drawnStory.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { shortStories } from '../../../../testing/simulation/stories/shortStories.ts';
import type { Deed } from '../../../../testing/simulation/stories/story.ts';

/** What a program without types may give. */
const untyped = (value: unknown): Deed => value as Deed;

test('what stories tell of are deeds', () => {
  const drawn = Array.from({ length: 100 }, (_, seed) => storyOfAnySize(seed));
  const all = [...drawn, ...Object.values(shortStories)].flatMap(({ moments }) => moments);
  for (const { deed } of all) checkDeed(deed);
  expect(new Set(all.map(({ deed }) => deed.kind)).size).toBeGreaterThan(20);
});

const circular = { kind: 'nope' };
Object.assign(circular, { self: circular });

test.each([
  undefined,
  null,
  5,
  5n,
  'exit',
  {},
  circular,
  { kind: 'constructor' },
  { kind: ['exit'] },
  { kind: 5n },
  { kind: Symbol('exit') },
])('%p is no deed', (deed) => {
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
  [{ kind: 'visit', uid: 'x'.repeat(256), forMs: 5 }, 'visit: uid: '],
  [{ kind: 'addresses', ips: [] }, 'addresses: ips: expected it not to be empty'],
  [{ kind: 'addresses', ips: ['here'] }, 'addresses: ips[0]: Invalid value: "here": expected an IP address'],
  [{ kind: 'remove', pod: '' }, 'remove: pod: expected it not to be empty'],
  [{ kind: 'remove', pod: 'web', force: true }, 'remove: force: unknown field'],
  [{ kind: 'jump', ms: 5n }, 'jump: ms: expected number, got bigint'],
  [{ kind: 'scribble', file: 'é'.repeat(200), text: '' }, 'scribble: file: '],
  [{ kind: 'mountForeign', which: 0, at: 'x\n/../../..', forMs: 5 }, 'mountForeign: at: '],
  [{ kind: 'mountForeign', which: 0, at: 'x/..', forMs: 5 }, 'mountForeign: at: '],
  [{ kind: 'url', trouble: 'nope', forMs: 5 }, 'url: trouble: '],
  [{ kind: 'stall', forMs: Number.POSITIVE_INFINITY }, 'stall: forMs: '],
  [{ kind: 'registryDown', forMs: 5 }, 'registryDown: images: Required value'],
  [{ kind: 'oom', which: 0 }, 'oom: child: Required value'],
  [{ kind: 'flaky', room: 'bath', share: 1, forMs: 5 }, 'flaky: room: '],
  [{ kind: 'loseImage', image: 5 }, 'loseImage: image: '],
])('of the kind of %p there are others', (deed, message) => {
  expect(() => checkDeed(untyped(deed))).toThrow(`there is no such deed of the kind ${message}`);
});

test.each(['x', 'volumes/x\n/y', '...', 'x/..y'])('%j is below the directory', (at) => {
  expect(() => checkDeed({ kind: 'mountForeign', which: 0, at, forMs: 5 })).not.toThrow();
});
