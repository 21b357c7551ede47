import { expect, test } from '@jest/globals';
import { allocatableMemory, withBlock } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import { formatMemoryCheckpoint } from '../../../kubernetes/numaMemory/memoryCheckpoint.ts';
import {
  SIMULATED_MACHINES,
  type SimulatedMachine,
  simulatedMemoryManager,
} from '../../../testing/simulation/host/cpuTopologies.ts';
import { NODE_PATHS } from '../../../testing/simulation/run/nodeConfig.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../testing/simulation/stories/manifests.ts';

const GIB = 2 ** 30;

const capacity = { cpuMillis: 64_000, memoryBytes: 4_096 * GIB, pods: 110 };

/** A Guaranteed pod whose container, and optionally an init container, gets memory of NUMA nodes. */
function guaranteed(name: string, memory: string, { initMemory = '', limits = {} } = {}) {
  const resourcesWith = (amount: string) => ({ resources: { limits: { cpu: '500m', memory: amount, ...limits } } });
  const setup = container('setup', { ...resourcesWith(initMemory), command: ['sh', '-c', 'sleep 5'] });
  const pod = manifest(name, {
    containers: [container('main', resourcesWith(memory))],
    ...(initMemory === '' ? {} : { initContainers: [setup] }),
  });
  return { ...pod, metadata: { ...pod.metadata, uid: name } };
}

async function memoryStory(machine: SimulatedMachine, extra: Readonly<Record<string, number>> = {}) {
  const node = await simulateNode({
    seed: 1,
    config: { capacity: { ...capacity, extra }, memoryManager: simulatedMemoryManager(machine) },
  });
  return {
    node,
    memoryNodes: () =>
      Object.fromEntries(
        node.host
          .running()
          .map(({ podName, config }) => [podName.replace(/-node-1$/, ''), config.linux?.resources?.cpusetMems])
          .sort(),
      ),
  };
}

test('containers of Guaranteed pods get memory of NUMA nodes, and others that of any node', async () => {
  const { node, memoryNodes } = await memoryStory('xeonE5');
  node.apply(guaranteed('first', '100Gi'));
  node.apply(manifest('shared', { containers: [container('main')] }));
  await node.advance(15_000);
  node.apply(guaranteed('second', '50Gi'));
  await node.advance(15_000);
  expect(memoryNodes()).toEqual({ first: '0', second: '1', shared: '' });
});

test('running containers keep their NUMA nodes when the agent restarts', async () => {
  const { node, memoryNodes } = await memoryStory('xeonE5');
  node.apply(guaranteed('first', '100Gi'));
  await node.advance(15_000);
  node.apply(guaranteed('second', '50Gi'));
  await node.advance(15_000);
  node.remove('first');
  await node.advance(60_000);
  node.kill();
  await node.startAgent();
  await node.advance(30_000);
  expect(memoryNodes()).toEqual({ second: '1' });
  node.apply(guaranteed('third', '100Gi'));
  await node.advance(30_000);
  expect(memoryNodes()).toEqual({ second: '1', third: '0' });
});

test('memory of a pod that is removed while no agent runs is released', async () => {
  const { node, memoryNodes } = await memoryStory('laptop');
  node.apply(guaranteed('gone', '15Gi'));
  await node.advance(15_000);
  node.kill();
  node.remove('gone');
  await node.startAgent();
  await node.advance(60_000);
  node.apply(guaranteed('next', '15Gi'));
  await node.advance(30_000);
  expect(memoryNodes()).toEqual({ next: '0' });
});

test('the memory of a completely removed pod is released', async () => {
  const { node, memoryNodes } = await memoryStory('laptop');
  node.kill();
  const { memoryPolicy } = simulatedMemoryManager('laptop');
  const block = { numaNodes: [0], resource: 'memory', bytes: 10 * GIB };
  const containers = [{ podUid: 'gone', container: 'main', blocks: [block] }];
  const state = { nodes: withBlock(memoryPolicy.nodes, block), containers };
  await node.host.files.writeFile(
    `${NODE_PATHS.rootDir}/memory_manager_state`,
    formatMemoryCheckpoint('Static', state),
  );
  await node.startAgent();
  await node.advance(30_000);
  node.apply(guaranteed('next', '15Gi'));
  await node.advance(30_000);
  expect(memoryNodes()).toEqual({ next: '0' });
});

test('other pods get what an init container had beyond its pod, once it has completed', async () => {
  const { node, memoryNodes } = await memoryStory('laptop');
  node.apply(guaranteed('first', '2Gi', { initMemory: '10Gi' }));
  await node.advance(2_000);
  node.apply(guaranteed('early', '6Gi'));
  await node.advance(20_000);
  node.apply(guaranteed('late', '12Gi'));
  await node.advance(20_000);
  expect(memoryNodes()).toEqual({ first: '0', late: '0' });
  node.kill();
  await node.startAgent();
  await node.advance(30_000);
  expect(memoryNodes()).toEqual({ first: '0', late: '0' });
});

test('a pod whose memory does not fit is refused with the message of a kubelet', async () => {
  const { node } = await memoryStory('laptop');
  node.apply(guaranteed('large', '16Gi'));
  await node.advance(15_000);
  expect(node.pods()[0]?.status).toMatchObject({
    phase: 'Failed',
    reason: 'UnexpectedAdmissionError',
    message:
      'Pod was rejected: Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected',
  });
});

test('huge pages decide about the NUMA nodes, too', async () => {
  const { node, memoryNodes } = await memoryStory('xeonE5', { 'hugepages-1Gi': 32 * GIB });
  node.apply(guaranteed('first', '1Gi', { limits: { 'hugepages-1Gi': '10Gi' } }));
  await node.advance(15_000);
  node.apply(guaranteed('second', '1Gi', { limits: { 'hugepages-1Gi': '10Gi' } }));
  await node.advance(15_000);
  expect(memoryNodes()).toEqual({ first: '0', second: '1' });
});

test.each(SIMULATED_MACHINES)('all memory of the machine %s can be used', async (machine) => {
  const { memoryPolicy } = simulatedMemoryManager(machine);
  const blocks = allocatableMemory(memoryPolicy).filter(({ resource }) => resource === 'memory');
  const { node, memoryNodes } = await memoryStory(machine);
  node.apply(guaranteed('whole', String(blocks.reduce((sum, { bytes }) => sum + bytes, 0))));
  await node.advance(15_000);
  expect(memoryNodes()).toEqual({ whole: memoryPolicy.nodes.map(({ id }) => id).join() });
});

test('the node and its pods explain whose memory is on which NUMA node', async () => {
  const { node } = await memoryStory('power9');
  node.apply(guaranteed('wide', '300Gi'));
  node.apply(manifest('shared', { containers: [container('main')] }));
  await node.advance(15_000);
  const nodeText = JSON.stringify(node.explainNode());
  expect(nodeText).toContain('NUMA node 8: hugepages-2Mi 32Gi of 32Gi free, memory 147Gi of 224Gi free, in one group');
  expect(nodeText).toContain('memory 300Gi on NUMA nodes 0,8 for default/wide-node-1, container main');
  expect(JSON.stringify(node.explain('wide'))).toContain('memory 300Gi on NUMA nodes 0,8 (Guaranteed)');
  const shared = node.pods().find(({ metadata }) => metadata.name === 'shared-node-1')?.metadata.uid ?? '';
  expect(JSON.stringify(node.explain(shared))).toContain('memory of any NUMA node (BestEffort)');
});
