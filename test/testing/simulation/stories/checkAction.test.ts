import { expect, test } from '@jest/globals';
import { checkAction } from '../../../../testing/simulation/stories/checkAction.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { storyOfAnySize } from '../../../../testing/simulation/stories/random/randomStory.ts';
import { shortStories } from '../../../../testing/simulation/stories/scenarios/shortStories.ts';
import type { Action } from '../../../../testing/simulation/stories/story.ts';

/** Stands for a value that a caller without type checking may pass. */
const untyped = (value: unknown): Action => value as Action;

test('all stories contain only valid actions', () => {
  const drawn = Array.from({ length: 100 }, (_, seed) => storyOfAnySize(seed));
  const all = [...drawn, ...Object.values(shortStories)].flatMap(({ actions }) => actions);
  for (const { action } of all) checkAction(action);
  expect(new Set(all.map(({ action }) => action.kind)).size).toBeGreaterThan(20);
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
])('%p is not an action', (action) => {
  expect(() => checkAction(untyped(action))).toThrow('there is no such action: ');
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
  [{ kind: 'url', fault: 'nope', forMs: 5 }, 'url: fault: '],
  [{ kind: 'stall', forMs: Number.POSITIVE_INFINITY }, 'stall: forMs: '],
  [{ kind: 'registryDown', forMs: 5 }, 'registryDown: images: Required value'],
  [{ kind: 'oom', which: 0 }, 'oom: child: Required value'],
  [{ kind: 'flaky', target: 'bath', share: 1, forMs: 5 }, 'flaky: target: '],
  [{ kind: 'loseImage', image: 5 }, 'loseImage: image: '],
])('%p is not a valid action of its kind', (action, message) => {
  expect(() => checkAction(untyped(action))).toThrow(`there is no such action of the kind ${message}`);
});

test.each(['x', 'volumes/x\n/y', '...', 'x/..y'])('the mount path %j is below the directory of the pod', (at) => {
  expect(() => checkAction({ kind: 'mountForeign', which: 0, at, forMs: 5 })).not.toThrow();
});
