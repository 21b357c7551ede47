import { expect, test } from '@jest/globals';
import type { CallName } from '../../../../cri/simulated/faults/callNames.ts';
import { runOne, type Simulation, simulate } from '../support.ts';

/** Runs a pod during which one call of this kind takes effect and then fails. */
async function runWithLostReply(call: CallName): Promise<Simulation & { readonly effects: readonly string[] }> {
  const effects: string[] = [];
  const simulation = simulate({
    onEffect: ({ kind, container }) => effects.push(`${container?.containerName ?? 'sandbox'} ${kind}`),
  });
  simulation.runtime.faults.add({ call, failsAfter: { message: 'the disk is full' } });
  await expect(runOne(simulation)).rejects.toThrow('the disk is full');
  return { ...simulation, effects };
}

test('a start that takes effect and then fails kills the started container', async () => {
  const { effects, runtime, play } = await runWithLostReply('startContainer');
  expect(effects.slice(-2)).toEqual(['main started', 'main ended']);
  const [main] = runtime.containers();
  expect(await play.containerState(main?.id ?? '')).toMatch(/^CONTAINER_EXITED 128 StartError the disk is full/);
});

test('a sandbox that is created and then fails remains, not ready, with its name', async () => {
  const { runtime, play } = await runWithLostReply('runPodSandbox');
  expect([...runtime.sandboxes()]).toMatchObject([{ podName: 'web', ready: false }]);
  await expect(play.sandbox('web')).rejects.toThrow('is reserved for');
});

test('a container that is created and then fails does not remain', async () => {
  const { runtime } = await runWithLostReply('createContainer');
  expect([...runtime.containers()]).toEqual([]);
});

test('a stopped container stays stopped although its stop has failed', async () => {
  const simulation = simulate();
  const { container } = await runOne(simulation);
  simulation.runtime.faults.add({ call: 'stopContainer', failsAfter: { code: 'DEADLINE_EXCEEDED', message: 'late' } });
  await expect(simulation.play.stop(container, 1)).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  expect(await simulation.play.containerState(container)).toMatch(/^CONTAINER_EXITED 143/);
});
