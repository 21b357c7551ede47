/** The kubelet's checkpoints of pod resources, from which this agent and the kubelet continue. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import {
  ACTUATED_CHECKPOINT,
  ALLOCATED_CHECKPOINT,
  formatResourceCheckpoint,
  parseResourceCheckpoint,
} from '../../../kubernetes/resources/resourceCheckpoint.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const Mi = 2 ** 20;
const amounts = (cpu: string) => ({ requests: { cpu, memory: '64Mi' }, limits: { cpu, memory: '64Mi' } });
const sized = (cpu: string, name = 'web'): Pod =>
  podWith(name, { containers: [containerWith('main', { resources: amounts(cpu) })] });

async function startNode(pods: readonly Pod[]): Promise<SimulatedNode> {
  const capacity = { cpuMillis: 2_000, memoryBytes: 512 * Mi, pods: 5 };
  const node = await simulatedNode({ pods, config: { capacity, takesOver: true } });
  await node.advance('5s');
  return node;
}

/** Returns the CPU limit of each container in a checkpoint, by pod. */
async function checkpointedCpus(node: SimulatedNode, name: string): Promise<Record<string, (string | undefined)[]>> {
  const pods = parseResourceCheckpoint(await readFile(node.path('root', name), 'utf8'));
  return Object.fromEntries(
    [...pods].map(([uid, { containers }]) => [uid, Object.values(containers).map(({ limits }) => limits?.cpu)]),
  );
}

const bothFiles = async (node: SimulatedNode) => [
  await checkpointedCpus(node, ALLOCATED_CHECKPOINT),
  await checkpointedCpus(node, ACTUATED_CHECKPOINT),
];

const quotaOf = (node: SimulatedNode) => Number(node.runtime.resourcesOf(node.containerId('web'))?.cpuQuota ?? 0n);

/** Removes what only this agent writes, so that the next agent starts like one after the kubelet. */
const forgetOwnFacts = (node: SimulatedNode) => rm(node.path('root', 'statelet'), { recursive: true });

describe('C25: the checkpoints of resources', () => {
  test('contain what was admitted and what the containers have, during and after a resize', async () => {
    const node = await startNode([sized('500m'), sized('250m', 'other')]);
    const { release } = node.runtime.faults.add({ call: 'updateContainerResources', hang: true });
    node.apply(sized('1'));
    await node.advance('1s');
    expect(await bothFiles(node)).toEqual([
      { 'web-uid': ['1'], 'other-uid': ['250m'] },
      { 'web-uid': ['500m'], 'other-uid': ['250m'] },
    ]);
    release();
    await node.advance('1s');
    expect((await bothFiles(node))[1]).toEqual({ 'web-uid': ['1'], 'other-uid': ['250m'] });
    node.remove('web');
    await node.advance('40s');
    expect(await bothFiles(node)).toEqual([{ 'other-uid': ['250m'] }, { 'other-uid': ['250m'] }]);
  });

  test('do not contain a deferred resize', async () => {
    const node = await startNode([sized('500m')]);
    node.apply(sized('3'));
    await node.advance('1s');
    expect(await bothFiles(node)).toEqual([{ 'web-uid': ['500m'] }, { 'web-uid': ['500m'] }]);
  });

  test('let an agent that takes over from a kubelet continue a deferred resize', async () => {
    const node = await startNode([sized('500m')]);
    node.killAgent();
    await forgetOwnFacts(node);
    node.apply(sized('3'));
    await node.startAgent();
    await node.advance('5s');
    expect(node.container('web')).toMatchObject({ restartCount: 0, allocatedResources: { cpu: '500m' } });
    expect(node.pod('web').conditions).toContainEqual(
      expect.objectContaining({ type: 'PodResizePending', reason: 'Deferred' }),
    );
    expect(quotaOf(node)).toBe(50_000);
  });

  test('let an agent that takes over from a kubelet complete a resize in progress', async () => {
    const node = await startNode([sized('500m')]);
    const fault = node.runtime.faults.add({ call: 'updateContainerResources', hang: true, times: Infinity });
    node.apply(sized('1'));
    await node.advance('1s');
    node.killAgent();
    await forgetOwnFacts(node);
    fault.release();
    await node.startAgent();
    await node.advance('10s');
    expect(quotaOf(node)).toBe(100_000);
    expect(node.container('web').restartCount).toBe(0);
  });

  test('take precedence over older facts of this agent, because a kubelet may have run since', async () => {
    const node = await startNode([sized('500m')]);
    node.killAgent();
    const file = node.path('root', ALLOCATED_CHECKPOINT);
    const admitted = new Map([['web-uid', { containers: { main: amounts('1') } }]]);
    await writeFile(file, formatResourceCheckpoint(admitted));
    node.apply(sized('3'));
    await node.startAgent();
    await node.advance('10s');
    expect(node.errors).toEqual([]);
    expect(node.container('web').allocatedResources?.cpu).toBe('1');
    expect(quotaOf(node)).toBe(100_000);
  });

  test.each([ALLOCATED_CHECKPOINT, ACTUATED_CHECKPOINT])(
    'a damaged %s is reported once and replaced, and the pods keep their resources',
    async (name) => {
      const node = await startNode([sized('500m')]);
      node.killAgent();
      const file = node.path('root', name);
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace('500m', '700m'));
      await node.startAgent();
      await node.advance('5s');
      expect(node.errors).toEqual([`store: NodeFailure: ${file}: checkpoint is corrupted; renamed to .corrupt`]);
      expect(node.container('web')).toMatchObject({ restartCount: 0, allocatedResources: { cpu: '500m' } });
      expect(await bothFiles(node)).toEqual([{ 'web-uid': ['500m'] }, { 'web-uid': ['500m'] }]);
    },
  );
});
