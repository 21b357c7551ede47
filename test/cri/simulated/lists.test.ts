import { expect, test } from '@jest/globals';
import { runOne, simulate } from './support.ts';

test('frozen lists show what was, with and without a filter; statuses show what is', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  const { sandbox, container } = await runOne(simulation);
  runtime.lists.freeze();
  await play.stopSandbox(sandbox);
  await play.sandbox('other');
  expect(await play.listSandboxes({})).toEqual(['<sandbox web> SANDBOX_READY']);
  expect(await play.list({})).toEqual(['<container web/main/0> CONTAINER_RUNNING']);
  expect(await play.list({ id: container })).toEqual(['<container web/main/0> CONTAINER_RUNNING']);
  expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED/);
  runtime.lists.thaw();
  expect(await play.listSandboxes({})).toEqual(['<sandbox other> SANDBOX_READY', '<sandbox web> SANDBOX_NOTREADY']);
  expect(await play.list({})).toEqual(['<container web/main/0> CONTAINER_EXITED']);
});
