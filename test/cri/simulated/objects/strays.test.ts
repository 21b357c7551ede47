import { expect, test } from '@jest/globals';
import { runOne, simulate } from '../support.ts';

test('a runtime that has lost its store knows nothing, running containers continue, and recreated ones have new IDs', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  const old = await runOne(simulation);
  runtime.restart({ forget: () => true });
  expect(await play.listSandboxes({})).toEqual([]);
  await expect(play.containerState(old.container)).rejects.toMatchObject({ reason: 'NotFound' });
  const again = await runOne(simulation);
  expect(again.container).not.toBe(old.container);
  expect([...runtime.strays.containers]).toMatchObject([
    { id: old.container, state: 'running', containerName: 'main' },
  ]);
  expect([...runtime.strays.sandboxes]).toMatchObject([{ id: old.sandbox, ready: true, ip: '10.88.0.2' }]);
  expect([...runtime.sandboxes()]).toMatchObject([{ id: again.sandbox, ip: '10.88.0.3' }]);
});

test('a single container can be forgotten, and is found again by a later restart', async () => {
  const simulation = simulate();
  const { runtime, play, clock } = simulation;
  const { sandbox, container } = await runOne(simulation, ['sleep', '10']);
  runtime.restart({ forget: ({ id }) => id === container });
  expect(await play.sandboxState(sandbox)).toMatch(/^SANDBOX_READY/);
  expect(await play.list({})).toEqual([]);
  await clock.advance(20_000);
  runtime.restart({ recall: true });
  expect(await play.containerState(container)).toMatch(/^CONTAINER_EXITED 0 Completed/);
  expect([...runtime.strays.containers]).toEqual([]);
});

test('a sandbox that has lost its name to another is not found again, nor are its containers', async () => {
  const simulation = simulate();
  const { runtime, play } = simulation;
  await runOne(simulation);
  runtime.restart({ forget: () => true });
  const sandbox = await play.sandbox('web');
  runtime.restart({ recall: true });
  expect([...runtime.sandboxes()].map(({ id }) => id)).toEqual([sandbox]);
  expect(await play.list({})).toEqual([]);
  expect([[...runtime.strays.sandboxes].length, [...runtime.strays.containers].length]).toEqual([1, 1]);
  await expect(play.sandbox('web')).rejects.toThrow('is reserved for');
});

test('a forgotten container is killed with its cgroup, and by a reboot', async () => {
  const simulation = simulate();
  const { runtime } = simulation;
  await runOne(simulation);
  runtime.restart({ forget: () => true });
  const [stray] = runtime.strays.containers;
  runtime.killCgroup(stray?.cgroup ?? '');
  expect(stray).toMatchObject({ state: 'exited', exitCode: 137 });
  runtime.restart({ keepContainers: false });
  expect([...runtime.strays.sandboxes]).toMatchObject([{ ready: false }]);
});

test('a forgotten sandbox whose processes have exited is dropped at the next loss, with its address', async () => {
  const simulation = simulate({ addresses: 1 });
  const { runtime, play } = simulation;
  await runOne(simulation);
  runtime.restart({ forget: () => true });
  await expect(play.sandbox('web')).rejects.toThrow('no IP addresses available');
  runtime.killCgroup('');
  runtime.restart({ forget: () => true });
  expect([...runtime.strays.sandboxes, ...runtime.strays.containers]).toEqual([]);
  await expect(play.sandbox('web')).resolves.toBeDefined();
});
