import { expect, test } from '@jest/globals';
import type { TopologyManager } from '../../../kubernetes/cpus/topologyHints.ts';
import { simulatedTopologyManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { DEVICE_RESOURCE, DEVICE_VARIABLE } from '../../../testing/simulation/host/simulatedDevices.ts';
import { DEVICE_PLUGIN_DIR } from '../../../testing/simulation/run/nodeConfig.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../testing/simulation/stories/manifests.ts';

/** A BestEffort pod with one container for each number of devices. */
const podWithDevices = (name: string, ...counts: readonly number[]) =>
  manifest(name, {
    containers: counts.map((count, index) =>
      container(`c${index}`, { resources: { limits: { [DEVICE_RESOURCE]: String(count) } } }),
    ),
  });

/** A node that manages neither CPUs nor memory. Two of its devices are on NUMA node 0 and two on NUMA node 1. */
async function deviceStory(topologyManager?: TopologyManager) {
  const config = { devicePluginDir: DEVICE_PLUGIN_DIR, ...(topologyManager === undefined ? {} : { topologyManager }) };
  const node = await simulateNode({ seed: 1, config });
  return {
    node,
    devices: () =>
      node.host
        .running()
        .map(({ config: { envs } }) =>
          Buffer.from(envs.find(({ key }) => key === DEVICE_VARIABLE)?.value ?? '').toString(),
        )
        .sort(),
    reasons: () => node.pods().map(({ status }) => status?.reason ?? status?.phase),
  };
}

test('without a topology policy, the devices of a container can be on different NUMA nodes', async () => {
  const { node, devices } = await deviceStory();
  node.apply(podWithDevices('large', 3));
  await node.advance(15_000);
  expect(devices()[0]?.split(',')).toHaveLength(3);
});

test('single-numa-node rejects a BestEffort pod whose devices are on different NUMA nodes', async () => {
  const { node, devices, reasons } = await deviceStory(simulatedTopologyManager('altra', 'single-numa-node'));
  node.apply(podWithDevices('large', 3));
  await node.advance(15_000);
  expect([devices(), reasons()]).toEqual([[], ['TopologyAffinityError']]);
});

test('a container gets devices of one NUMA node, also after the agent has restarted', async () => {
  const { node, devices } = await deviceStory(simulatedTopologyManager('altra', 'restricted'));
  node.apply(podWithDevices('first', 1));
  await node.advance(15_000);
  node.kill();
  await node.startAgent();
  node.apply(podWithDevices('second', 2));
  await node.advance(15_000);
  expect(devices()).toEqual(['d1', 'd2,d3']);
});
