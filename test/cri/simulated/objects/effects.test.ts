import { expect, test } from '@jest/globals';
import type { LoggedCall } from '../../../../cri/simulated/faults/callNames.ts';
import type { RuntimeEffect } from '../../../../cri/simulated/objects/views.ts';
import { runOne, type Simulation, simulate } from '../support.ts';

/** Returns a simulation that records its calls and effects in one list. */
function recordingSimulation(options: Parameters<typeof simulate>[0] = {}): Simulation & { readonly seen: string[] } {
  const seen: string[] = [];
  const onCall = ({ call }: LoggedCall) => seen.push(call);
  const onEffect = ({ kind, sandbox, container }: RuntimeEffect) =>
    seen.push(`${container ? container.containerName : `sandbox of ${sandbox.podName}`} ${kind}`);
  return { ...simulate({ ...options, onCall, onEffect }), seen };
}

test('a call is reported before it takes effect, and each effect when it occurs', async () => {
  const simulation = recordingSimulation();
  const { sandbox } = await runOne(simulation);
  await simulation.play.stopSandbox(sandbox);
  await simulation.play.removeSandbox(sandbox);
  expect(simulation.seen).toEqual([
    'runPodSandbox',
    'sandbox of web created',
    'sandbox of web started',
    'createContainer',
    'main created',
    'startContainer',
    'main started',
    'stopPodSandbox',
    'main ended',
    'sandbox of web ended',
    'removePodSandbox',
    'main removed',
    'sandbox of web removed',
  ]);
});

test('an exit is observed even if its event is dropped', async () => {
  const simulation = recordingSimulation();
  simulation.runtime.events.setDeliveryMode('dropped');
  const { container } = await runOne(simulation);
  simulation.seen.splice(0);
  simulation.runtime.exitContainer(container, 1);
  expect(simulation.seen).toEqual(['main ended']);
});

test('a call that fails without taking effect has no observed effect', async () => {
  const simulation = recordingSimulation();
  simulation.runtime.faults.add({ call: 'runPodSandbox', error: { message: 'no network today' } });
  await expect(simulation.play.sandbox('web')).rejects.toThrow('no network today');
  expect(simulation.seen).toEqual(['runPodSandbox']);
});

test('calls are observed even if the call log is off', async () => {
  const simulation = recordingSimulation({ logCalls: false });
  await simulation.play.list({});
  expect(simulation.runtime.calls).toEqual([]);
  expect(simulation.seen).toEqual(['listContainers']);
});
