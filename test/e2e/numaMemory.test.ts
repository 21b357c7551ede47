import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { parseMemoryCheckpoint } from '../../kubernetes/numaMemory/memoryCheckpoint.ts';
import { noAbort } from './support/containerd.ts';
import { forAllTests } from './support/forAllTests.ts';
import { hearing, podManifest } from './support/manifests.ts';
import { containerOf, runNode } from './support/node.ts';

const MIB = 2 ** 20;

/** The default hard eviction threshold for memory is 100 MiB, and nothing else is reserved. */
const node = await forAllTests(() =>
  runNode('memoryManagerPolicy: Static', 'reservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]'),
);

const specSchema = z.object({
  runtimeSpec: z.object({
    linux: z.object({ resources: z.object({ cpu: z.object({ mems: z.optional(z.string()) }) }) }),
  }),
});

/** Returns the NUMA nodes in the OCI specification of a pod's container. */
async function memoryNodesOf(pod: Pod): Promise<string | undefined> {
  const containerId = containerOf(pod).containerID?.replace(/^.*:\/\//, '') ?? '';
  const { info } = await node.runtime.cri.containerStatus({ containerId, verbose: true }, { signal: noAbort });
  return specSchema.parse(JSON.parse(info.info ?? '')).runtimeSpec.linux.resources.cpu.mems;
}

const readState = async () =>
  parseMemoryCheckpoint(await readFile(join(node.rootDir, 'memory_manager_state'), 'utf8'), 'Static');

test('a container is created with its NUMA nodes, and keeps its memory when the agent restarts', async () => {
  const agent = await node.start();
  await node.write('shared.yaml', podManifest('shared', [hearing('main')]));
  const limits = { cpu: '500m', memory: '64Mi' };
  await node.write('own.yaml', podManifest('own', [hearing('main', { resources: { limits } })]));
  const [shared, own] = [await node.running('shared'), await node.running('own')];
  expect([await memoryNodesOf(shared), await memoryNodesOf(own)]).toEqual([undefined, '0']);
  const state = await readState();
  const blocks = [{ numaNodes: [0], resource: 'memory', bytes: 64 * MIB }];
  expect(state.containers).toEqual([{ podUid: own.metadata.uid, container: 'main', blocks }]);
  expect(state.nodes[0]?.tables.find(({ resource }) => resource === 'memory')?.systemReserved).toBe(100 * MIB);
  agent.kill('SIGKILL');
  await agent.ended;
  await node.start();
  const again = await node.running('own');
  expect(containerOf(again).containerID).toBe(containerOf(own).containerID);
  expect(await readState()).toEqual(state);
  await node.remove('own.yaml');
  await node.gone('own');
  expect((await readState()).containers).toEqual([]);
});
