import { expect, test } from '@jest/globals';
import { RunPodSandboxRequest } from '../../../../cri/generated/runtime.ts';
import { follow, noAbort, runOne, simulate } from '../support.ts';

test('a stalled runtime responds to nothing, and to everything once it resumes', async () => {
  const { runtime, clock, play } = simulate({ latency: { runPodSandbox: 84, listPodSandbox: 1 } });
  const answered: string[] = [];
  const note = (what: string) => () => void answered.push(what);
  const underWay = play.sandbox('a').then(note('under way'));
  await clock.advance(40);
  runtime.stall();
  const arrived = play.sandbox('b').then(note('arrived'));
  await clock.advance(60_000);
  expect(answered).toEqual([]);
  expect([...runtime.sandboxes()]).toEqual([]);
  runtime.resume();
  await clock.advanceUntilSettled(Promise.all([underWay, arrived]));
  expect(answered).toEqual(['under way', 'arrived']);
  expect([...runtime.sandboxes()].map(({ podName }) => podName)).toEqual(['a', 'b']);
});

test('a call that was aborted during a stall takes no effect later', async () => {
  const { runtime, clock, cri } = simulate();
  runtime.stall();
  const config = { metadata: { name: 'web', namespace: 'default', uid: 'u1', attempt: 0 } };
  const request = RunPodSandboxRequest.fromPartial({ config });
  const late = expect(cri.runPodSandbox(request, { signal: noAbort, timeoutMs: 2000 })).rejects.toMatchObject({
    reason: 'RuntimeUnavailable',
  });
  await clock.advance(2000);
  await late;
  runtime.resume();
  await clock.advance(1000);
  expect([...runtime.sandboxes()]).toEqual([]);
});

test('containers continue to run during a stall, and their exits are reported afterwards', async () => {
  const simulation = simulate();
  const { containerEvents, opened } = follow(simulation.cri);
  await opened;
  const { container } = await runOne(simulation, ['sleep', '1']);
  simulation.runtime.stall();
  await simulation.clock.advance(5000);
  expect([...simulation.runtime.containers()]).toMatchObject([{ id: container, state: 'exited' }]);
  expect(containerEvents).toEqual([]);
  simulation.runtime.resume();
  expect(containerEvents).toMatchObject([{ containerId: container }]);
});

test('a runtime that is killed during a stall loses its pending events, and comes back responsive', async () => {
  const simulation = simulate();
  const { runtime, clock, cri } = simulation;
  await runOne(simulation, ['sleep', '1']);
  runtime.stall();
  const cut = expect(cri.version({ version: 'v1' }, { signal: noAbort })).rejects.toMatchObject({
    reason: 'RuntimeUnavailable',
  });
  await clock.advance(5000);
  runtime.restart();
  await cut;
  const { containerEvents } = follow(cri);
  expect(containerEvents).toEqual([]);
  await expect(cri.version({ version: 'v1' }, { signal: noAbort })).resolves.toMatchObject({
    runtimeName: 'simulated',
  });
});
