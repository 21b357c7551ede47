import { expect, test } from '@jest/globals';
import { seededRandom } from '../../../../cri/simulated/objects/ids.ts';
import { noAbort, runOne, simulate } from '../support.ts';

test('frozen lists show the former state, with and without a filter, and statuses show the current one', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  const { sandbox, container } = await runOne(simulation);
  runtime.listResults.freeze();
  await play.stopSandbox(sandbox);
  await play.sandbox('other');
  expect(await play.listSandboxes({})).toEqual(['<sandbox web> SANDBOX_READY']);
  expect(await play.list({})).toEqual(['<container web/main/0> CONTAINER_RUNNING']);
  expect(await play.list({ id: container })).toEqual(['<container web/main/0> CONTAINER_RUNNING']);
  expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED/);
  runtime.listResults.thaw();
  expect(await play.listSandboxes({})).toEqual(['<sandbox other> SANDBOX_READY', '<sandbox web> SANDBOX_NOTREADY']);
  expect(await play.list({})).toEqual(['<container web/main/0> CONTAINER_EXITED']);
});

test('a reboot unfreezes the lists, a restart of the runtime alone does not', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  await runOne(simulation);
  runtime.listResults.freeze();
  runtime.restart();
  await play.sandbox('other');
  expect(await play.listSandboxes({})).toEqual(['<sandbox web> SANDBOX_READY']);
  runtime.restart({ keepContainers: false });
  expect(await play.list({})).toEqual(['<container web/main/0> CONTAINER_EXITED']);
});

test('lists are sorted by age or shuffled, as with a real runtime', async () => {
  const { cri, runtime, play } = simulate();
  for (const pod of ['a', 'b', 'c', 'd']) await play.sandbox(pod);
  const listed = async () => {
    const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
    return items.map(({ metadata }) => metadata?.name).join('');
  };
  expect([await listed(), await listed()]).toEqual(['abcd', 'abcd']);
  runtime.listResults.shuffle(seededRandom(1));
  const orders = [await listed(), await listed(), await listed()];
  expect(new Set(orders).size).toBeGreaterThan(1);
  expect(orders.map((order) => [...order].sort().join(''))).toEqual(['abcd', 'abcd', 'abcd']);
  runtime.listResults.shuffle();
  expect(await listed()).toBe('abcd');
});
