/**
 * Remains of calls that a crash of the runtime interrupted, like those in a real containerd that was killed at these
 * points.
 */
import { expect, test } from '@jest/globals';
import { simulate } from '../support.ts';

test.each([
  [10, 'nothing of it, and the name is free', []],
  [50, 'it is not ready, without an address', [{ ready: false, ip: undefined }]],
  [90, 'it is not ready, with its address', [{ ready: false, ip: '10.88.0.2' }]],
])('a sandbox creation interrupted after %i of 100 ms has the result: %s', async (ms, _, left) => {
  const { clock, runtime, play } = simulate({ latency: { runPodSandbox: 100 } });
  const cut = expect(play.sandbox('web')).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  await clock.advance(ms);
  runtime.restart();
  await cut;
  expect([...runtime.sandboxes()].map(({ ready, ip }) => ({ ready, ip }))).toEqual(left);
  const again = clock.advanceUntilSettled(play.sandbox('web'));
  if (left.length === 0) await expect(again).resolves.toBeDefined();
  else await expect(again).rejects.toThrow('is reserved for');
});

test.each([
  [70, /^CONTAINER_CREATED 0, created$/],
  [90, /^CONTAINER_RUNNING 0, created started$/],
])('a container start interrupted after %i of 100 ms has the result: %s', async (ms, state) => {
  const { clock, runtime, play } = simulate({ latency: { startContainer: 100 } });
  const sandbox = await clock.advanceUntilSettled(play.sandbox('web'));
  const container = await clock.advanceUntilSettled(play.container(sandbox, 'web', 'main', []));
  const cut = expect(play.start(container)).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  await clock.advance(ms);
  runtime.restart();
  await cut;
  expect(await clock.advanceUntilSettled(play.containerState(container))).toMatch(state);
});
