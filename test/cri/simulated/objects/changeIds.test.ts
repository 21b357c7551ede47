import { expect, test } from '@jest/globals';
import { ContainerState } from '../../../../cri/generated/runtime.ts';
import type { RuntimeEffect } from '../../../../cri/simulated/objects/views.ts';
import { follow, runOne, simulate } from '../support.ts';

test('renamed objects have a new ID, and are otherwise unchanged', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  const old = await runOne(simulation);
  const [before] = runtime.contents().containers;
  const [sandboxBefore] = [...runtime.sandboxes()].map((each) => ({ ...each, ip: each.ip }));
  runtime.restart({ rename: () => true });
  const { sandboxes, containers } = runtime.contents();
  const [sandbox, container] = [sandboxes[0]?.id ?? '', containers[0]?.id ?? ''];
  expect([sandbox, container]).not.toEqual([old.sandbox, old.container]);
  expect(containers).toEqual([{ ...before, id: container, podSandboxId: sandbox }]);
  expect([...runtime.sandboxes()]).toMatchObject([{ ...sandboxBefore, id: sandbox }]);
  expect(await play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
  expect(containers[0]?.state).toBe(ContainerState.CONTAINER_RUNNING);
});

test('old IDs are unknown, and calls with them fail', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  const old = await runOne(simulation);
  runtime.restart({ rename: () => true });
  await expect(play.containerState(old.container)).rejects.toMatchObject({ reason: 'NotFound' });
  await expect(play.sandboxState(old.sandbox)).rejects.toMatchObject({ reason: 'NotFound' });
  await expect(play.start(old.container)).rejects.toMatchObject({ reason: 'NotFound' });
  await play.stop(old.container, 0);
  expect([...runtime.containers()].map(({ state }) => state)).toEqual(['running']);
});

test('names stay reserved until the object is removed under its new ID', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  await runOne(simulation);
  runtime.restart({ rename: () => true });
  const [{ id } = { id: '' }] = runtime.sandboxes();
  await expect(play.sandbox('web')).rejects.toThrow(`is reserved for "${id}"`);
  runtime.removeSandbox(id);
  await runOne(simulation);
});

test('only selected objects get new IDs, and the order by age is preserved', async () => {
  const { runtime, play } = simulate();
  const ids = [await play.sandbox('a'), await play.sandbox('b'), await play.sandbox('c')];
  runtime.restart({ rename: ({ podName }) => podName === 'b' });
  const now = [...runtime.sandboxes()];
  expect(now.map(({ podName }) => podName)).toEqual(['a', 'b', 'c']);
  expect(now.map(({ id }, index) => id === ids[index])).toEqual([true, false, true]);
});

test('old IDs appear neither in paused events nor in frozen lists any more', async () => {
  const simulation = simulate();
  const { runtime, cri, clock } = simulation;
  const { container } = await runOne(simulation);
  runtime.events.setDeliveryMode('paused');
  runtime.exitContainer(container, 0);
  runtime.listResults.freeze();
  runtime.restart({ rename: () => true });
  const { containerEvents, opened } = follow(cri);
  await opened;
  runtime.events.setDeliveryMode('normal');
  await clock.advance(1_000);
  expect(containerEvents).toEqual([]);
  expect(runtime.listResults.containers()).toEqual(runtime.contents().containers);
});

test('an observer is notified of the old and new IDs, of sandboxes before their containers', async () => {
  const seen: RuntimeEffect[] = [];
  const simulation = simulate({ onEffect: (effect) => void seen.push(effect) });
  const old = await runOne(simulation);
  seen.length = 0;
  simulation.runtime.restart({ rename: () => true });
  expect(seen).toMatchObject([
    { kind: 'renamed', formerId: old.sandbox, sandbox: { podName: 'web' } },
    { kind: 'renamed', formerId: old.container, container: { containerName: 'main' } },
  ]);
});
