import { expect, test } from '@jest/globals';
import { NamespaceMode } from '../../../../cri/generated/runtime.ts';
import { networkStoryExpected, playNetworkStory } from '../../networkStory.ts';
import { noAbort, type Simulation, simulate } from '../support.ts';

const conditions = async ({ cri }: Simulation) =>
  (await cri.status({ verbose: false }, { signal: noAbort })).status?.conditions;

test('an unready network is reported by the status with the message of its plugin', async () => {
  const simulation = simulate();
  simulation.runtime.network.fail('cni config is broken');
  expect(await conditions(simulation)).toMatchObject([
    { type: 'RuntimeReady', status: true },
    {
      type: 'NetworkReady',
      status: false,
      reason: 'NetworkPluginNotReady',
      message: 'Network plugin returns error: cni config is broken',
    },
  ]);
  simulation.runtime.network.recover();
  expect(await conditions(simulation)).toMatchObject([{ status: true }, { status: true, reason: '', message: '' }]);
});

test('without a network, pods on the host network run, and others leave an unready sandbox behind', async () => {
  const { runtime, play } = simulate();
  runtime.network.fail();
  await expect(play.sandbox('host', NamespaceMode.NODE)).resolves.toBeDefined();
  await expect(play.sandbox('web')).rejects.toThrow(/failed to setup network for sandbox.*cni plugin not initialized/);
  await expect(play.sandbox('web')).rejects.toThrow('is reserved for');
  expect([...runtime.sandboxes()].map(({ podName, ready }) => [podName, ready])).toEqual([
    ['host', true],
    ['web', false],
  ]);
});

test('without a network, no sandbox with an address can be fully stopped or removed', async () => {
  const { runtime, play } = simulate();
  const sandbox = await play.sandbox('web');
  runtime.network.fail();
  await expect(play.stopSandbox(sandbox)).rejects.toThrow('failed to destroy network for sandbox');
  expect(await play.sandboxState(sandbox)).toBe('SANDBOX_NOTREADY with an address');
  await expect(play.removeSandbox(sandbox)).rejects.toThrow('failed to destroy network for sandbox');
  runtime.network.recover();
  await play.removeSandbox(sandbox);
  expect([...runtime.sandboxes()]).toEqual([]);
});

test('the number of addresses can be reduced: used ones remain, and no further one is assigned', async () => {
  const { runtime, play } = simulate();
  const sandboxes = [await play.sandbox('a'), await play.sandbox('b'), await play.sandbox('c')];
  runtime.network.limitAddresses(2);
  await play.stopSandbox(sandboxes[0] ?? '');
  await expect(play.sandbox('d')).rejects.toThrow('no IP addresses available in range set');
  await play.stopSandbox(sandboxes[1] ?? '');
  const last = await play.sandbox('d');
  expect([...runtime.sandboxes()].find(({ id }) => id === last)).toMatchObject({ ip: '10.88.0.3' });
  expect(await play.sandboxState(sandboxes[2] ?? '')).toBe('SANDBOX_READY with an address');
});

test('the network scenario has the results of a real containerd', async () => {
  const { clock, runtime } = simulate();
  const story = playNetworkStory({
    call: (name, request) => runtime.call(name, request, noAbort),
    setNetwork: async (ready) => (ready ? runtime.network.recover() : runtime.network.fail()),
  });
  expect(await clock.advanceUntilSettled(story)).toEqual(networkStoryExpected);
});
