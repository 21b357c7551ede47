import { expect, test } from '@jest/globals';
import { HOST_TARGETS } from '../../../../../testing/simulation/run/gate.ts';
import { richStories } from '../../../../../testing/simulation/stories/scenarios/richStories.ts';
import { recordCalls } from '../../../../../testing/simulation/stories/variants/everyFault.ts';

test('rich stories use every target of the host, and calls that plain pods never make', async () => {
  const calls = (await Promise.all(Object.values(richStories).map(recordCalls))).flat();
  expect(new Set(calls.map(({ target }) => target))).toEqual(new Set(HOST_TARGETS));
  const names = ['fetch', 'connect', 'pullImage', 'execSync', 'mount', 'mountAt', 'bind', 'unmount', 'setOwnership'];
  expect(calls.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});
