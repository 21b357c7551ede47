import { expect, test } from '@jest/globals';
import { allocatableCpus } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { SIMULATED_MACHINES, simulatedCpuManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../testing/simulation/stories/manifests.ts';

const GIB = 2 ** 30;

const capacity = { cpuMillis: 8_000, memoryBytes: 16 * GIB, pods: 110 };

/** A pod whose container gets as many exclusive CPUs as it requests, if that is a whole number. */
function guaranteed(name: string, cpu: string) {
  const resources = { limits: { cpu, memory: '64Mi' } };
  const pod = manifest(name, { containers: [container('main', { resources })] });
  return { ...pod, metadata: { ...pod.metadata, uid: name } };
}

/** A node on a laptop with four cores of two threads: 0 and 4, 1 and 5, and so on. CPU 0 is reserved. */
async function laptopStory() {
  const node = await simulateNode({
    seed: 1,
    config: { capacity, cpuManager: simulatedCpuManager('laptop') },
  });
  return {
    node,
    cpus: () =>
      Object.fromEntries(
        node.host
          .running()
          .map(({ podName, config }) => [podName.replace(/-node-1$/, ''), config.linux?.resources?.cpusetCpus])
          .sort(),
      ),
    quotas: () => node.host.running().map(({ config }) => Number(config.linux?.resources?.cpuQuota)),
  };
}

test('containers of Guaranteed pods with whole CPUs get exclusive CPUs, which all other containers vacate', async () => {
  const { node, cpus } = await laptopStory();
  node.apply(guaranteed('shared', '500m'));
  await node.advance(15_000);
  expect(cpus()).toEqual({ shared: '0-7' });
  node.apply(guaranteed('whole', '2'));
  await node.advance(15_000);
  expect(cpus()).toEqual({ shared: '0,2-4,6-7', whole: '1,5' });
  node.remove('whole');
  await node.advance(60_000);
  expect(cpus()).toEqual({ shared: '0-7' });
});

test('containers with exclusive CPUs have no CPU quota', async () => {
  const { node, quotas } = await laptopStory();
  node.apply(guaranteed('whole', '2'));
  await node.advance(15_000);
  expect(quotas()).toEqual([-1]);
});

test('running containers retain their exclusive CPUs when the agent restarts', async () => {
  const { node, cpus } = await laptopStory();
  node.apply(guaranteed('first', '2'));
  await node.advance(15_000);
  node.apply(guaranteed('second', '2'));
  await node.advance(15_000);
  node.remove('first');
  await node.advance(60_000);
  expect(cpus()).toEqual({ second: '2,6' });
  node.kill();
  await node.startAgent();
  await node.advance(30_000);
  expect(cpus()).toEqual({ second: '2,6' });
});

test('exclusive CPUs of a pod that is removed while no agent is running are released', async () => {
  const { node, cpus } = await laptopStory();
  node.apply(guaranteed('gone', '7'));
  await node.advance(15_000);
  node.kill();
  node.remove('gone');
  await node.startAgent();
  await node.advance(60_000);
  node.apply(guaranteed('next', '7'));
  await node.advance(30_000);
  expect(cpus()).toEqual({ next: '1-7' });
});

test('a pod is rejected with the message of a kubelet if there are too few exclusive CPUs', async () => {
  const { node } = await laptopStory();
  node.apply(guaranteed('large', '8'));
  await node.advance(15_000);
  expect(node.pods()[0]?.status).toMatchObject({
    phase: 'Failed',
    reason: 'UnexpectedAdmissionError',
    message:
      'Pod was rejected: Allocate failed due to not enough cpus available to satisfy request: requested=8, available=7, which is unexpected',
  });
});

test.each(SIMULATED_MACHINES)('all CPUs of the machine %s can be used', async (machine) => {
  const cpuManager = simulatedCpuManager(machine);
  const allocatable = allocatableCpus(cpuManager.cpuPolicy);
  const count = allocatable.length + 1;
  const node = await simulateNode({
    seed: 1,
    config: { capacity: { ...capacity, cpuMillis: count * 1_000 }, cpuManager },
  });
  node.apply(guaranteed('whole', String(allocatable.length)));
  await node.advance(15_000);
  const [running] = node.host.running();
  expect(running?.config.linux?.resources?.cpusetCpus).toBe(formatCpuSet(allocatable));
});

test('the node and its pods explain which CPUs they have, and why', async () => {
  const { node } = await laptopStory();
  node.apply(guaranteed('whole', '2'));
  node.apply(guaranteed('shared', '1500m'));
  await node.advance(15_000);
  const nodeText = JSON.stringify(node.explainNode());
  expect(nodeText).toContain('shared CPUs 0,2-4,6-7');
  expect(nodeText).toContain('1,5 for default/whole-node-1, container main');
  expect(JSON.stringify(node.explain('whole'))).toContain('exclusive CPUs 1,5 (Guaranteed, requests 2 whole CPUs)');
  expect(JSON.stringify(node.explain('shared'))).toContain('shared CPUs 0,2-4,6-7 (requests no whole CPUs)');
});

test('a pod waits for the exclusive CPUs of a terminating pod', async () => {
  const { node, cpus } = await laptopStory();
  node.apply(guaranteed('first', '5'));
  await node.advance(15_000);
  node.remove('first');
  node.apply(guaranteed('next', '6'));
  await node.advance(90_000);
  expect(cpus()).toEqual({ next: '1-3,5-7' });
});
