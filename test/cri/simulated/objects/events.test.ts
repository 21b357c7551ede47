import { expect, test } from '@jest/globals';
import { follow, runOne, simulate } from '../support.ts';

test('exits cause an event, and the calls of the agent do not', async () => {
  const simulation = simulate();
  const { containerEvents, opened } = follow(simulation.cri);
  await opened;
  const { container } = await runOne(simulation, ['sleep', '1']);
  expect(containerEvents).toEqual([]);
  await simulation.clock.advance(1000);
  expect(containerEvents).toEqual([{ containerId: container, createdAt: simulation.clock.now() }]);
});

test('an event can precede the exit in the status', async () => {
  const simulation = simulate();
  simulation.runtime.eventLeadMs = 15;
  const { containerEvents } = follow(simulation.cri);
  const { container } = await runOne(simulation, ['sleep', '1']);
  await simulation.clock.advance(1000);
  expect(containerEvents).toHaveLength(1);
  expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_RUNNING/);
  await simulation.clock.advance(15);
  expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 0/);
});

test('events can be paused, dropped and doubled', async () => {
  const simulation = simulate();
  const { runtime, clock, play } = simulation;
  const { containerEvents } = follow(simulation.cri);
  const { sandbox } = await runOne(simulation);
  const exitOf = async (name: string) => {
    await play.runToEnd(sandbox, 'web', name, ['true'], 0);
    await clock.advance(0);
    return containerEvents.splice(0).length;
  };
  runtime.events.setDeliveryMode('paused');
  expect(await exitOf('kept')).toBe(0);
  runtime.events.setDeliveryMode('normal');
  expect(containerEvents.splice(0)).toHaveLength(1);
  runtime.events.setDeliveryMode('dropped');
  expect(await exitOf('lost')).toBe(0);
  runtime.events.setDeliveryMode('doubled');
  expect(await exitOf('twice')).toBe(2);
});

test('each event can be delivered late, twice or never, and so out of order', async () => {
  const { runtime, clock, play, cri } = simulate();
  const { containerEvents } = follow(cri);
  const sandbox = await play.sandbox('web');
  const ids: string[] = [];
  runtime.events.setDeliveryMode(({ id }) => [[500, 700], [], [100]][ids.indexOf(id)] ?? []);
  for (const name of ['twice', 'never', 'early']) {
    const id = await play.container(sandbox, 'web', name, []);
    ids.push(id);
    await play.start(id);
    runtime.exitContainer(id, 0);
  }
  expect(containerEvents).toEqual([]);
  await clock.advance(700);
  expect(containerEvents.map(({ containerId }) => ids.indexOf(containerId))).toEqual([2, 0, 0]);
});

test('an event in flight when the stream breaks is lost', async () => {
  const simulation = simulate();
  const { runtime, clock, cri } = simulation;
  const { container } = await runOne(simulation);
  const before = follow(cri);
  before.ended.catch(() => {});
  runtime.events.setDeliveryMode(() => [500]);
  runtime.exitContainer(container, 0);
  runtime.restart();
  const after = follow(cri);
  await clock.advance(1000);
  expect([...before.containerEvents, ...after.containerEvents]).toEqual([]);
});

test('the stream ends without an error on its signal, and breaks when the runtime goes down', async () => {
  const { cri, runtime } = simulate();
  const caller = new AbortController();
  const quiet = follow(cri, caller.signal);
  const broken = follow(cri);
  const failed = expect(broken.ended).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  caller.abort();
  await expect(quiet.ended).resolves.toBeUndefined();
  runtime.down();
  await failed;
  await expect(follow(cri).opened).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
});
