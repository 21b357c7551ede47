import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { MemoryManagerState } from '../../../actors/memory/memoryManagerState.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { simulatedMemoryManager } from '../../../testing/simulation/host/cpuTopologies.ts';

const GIB = 2 ** 30;
const { memoryPolicy } = simulatedMemoryManager('laptop');

let rootDir: string;
let file: string;
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'memory-state-'));
  file = join(rootDir, 'memory_manager_state');
});
afterEach(() => rmSync(rootDir, { recursive: true }));

const createState = () => new MemoryManagerState(hostFiles, rootDir);

/** Returns the state file of the kubelet on a host with one NUMA node of 16 GiB, of which a container has 2 GiB. */
const kubeletFile = (policyName = 'Static', totalGib = 16, allocatableBytes = 15 * GIB) =>
  JSON.stringify({
    policyName,
    machineState: {
      '0': {
        numberOfAssignments: 1,
        memoryMap: {
          memory: {
            total: totalGib * GIB,
            systemReserved: GIB,
            allocatable: allocatableBytes,
            reserved: 2 * GIB,
            free: allocatableBytes - 2 * GIB,
          },
        },
        cells: [0],
      },
    },
    entries: { 'uid-1': { main: [{ numaAffinity: [0], type: 'memory', size: 2 * GIB }] } },
    checksum: 0,
  });

test('continues from the assignments of a kubelet, and writes what a kubelet reads', async () => {
  writeFileSync(file, kubeletFile());
  const state = createState();
  await state.load(memoryPolicy);
  expect([state.numaNodesOf('uid-1', 'main'), state.numaNodesOf('uid-1', 'other')]).toEqual([[0], []]);
  if (state.assignments !== undefined) await state.save(state.assignments);
  expect(readFileSync(file, 'utf8').replace(/"checksum":\d+/, '"checksum":0')).toBe(kubeletFile());
  const nextState = createState();
  await nextState.load(memoryPolicy);
  expect(nextState.assignments).toEqual(state.assignments);
});

test('on a host without a file, all memory is free', async () => {
  const state = createState();
  await state.load(memoryPolicy);
  expect(state.assignments).toEqual({ nodes: memoryPolicy.nodes, containers: [] });
});

test('new containers get changed NUMA nodes only once they are durable', async () => {
  const state = createState();
  await state.load(memoryPolicy);
  rmSync(rootDir, { recursive: true });
  const blocks = [{ numaNodes: [0], resource: 'memory', bytes: GIB }];
  const containers = [{ podUid: 'uid-1', container: 'main', blocks }];
  await expect(state.save({ nodes: memoryPolicy.nodes, containers })).rejects.toThrow('ENOENT');
  expect(state.numaNodesOf('uid-1', 'main')).toEqual([]);
  rootDir = mkdtempSync(join(tmpdir(), 'memory-state-'));
});

test.each([
  [
    'a policy that has changed',
    undefined,
    kubeletFile(),
    '[memorymanager] configured policy "None" differs from state checkpoint policy "Static"',
  ],
  [
    'a policy that was None before',
    memoryPolicy,
    '{"policyName":"None","machineState":{},"checksum":0}',
    '[memorymanager] configured policy "Static" differs from state checkpoint policy "None"',
  ],
  ['a damaged file', memoryPolicy, kubeletFile().replace('"checksum":0', '"checksum":1'), 'checkpoint is corrupted'],
])('does not start with %s, and says which file to delete', async (_, policy, text, reason) => {
  writeFileSync(file, text);
  await expect(createState().load(policy)).rejects.toThrow(
    `could not restore state from checkpoint: ${reason}, please drain this node and delete the memory manager checkpoint file "${file}" before restarting Kubelet`,
  );
});

test('does not start on a host with more or less memory', async () => {
  writeFileSync(file, kubeletFile('Static', 8));
  await expect(createState().load(memoryPolicy)).rejects.toThrow(
    `[memorymanager] the expected machine state is different from the real one, please drain node and remove policy state file ${file}`,
  );
});

test('continues after a reboot that leaves slightly less memory on a NUMA node', async () => {
  const [page, before] = [4_096, createState()];
  writeFileSync(file, kubeletFile('Static', 16 + page / GIB, 15 * GIB + page));
  await before.load(memoryPolicy);
  writeFileSync(file, kubeletFile());
  const after = createState();
  await after.load(memoryPolicy);
  expect(before.assignments).toEqual(after.assignments);
  expect(before.numaNodesOf('uid-1', 'main')).toEqual([0]);
});
