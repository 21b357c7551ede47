import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readNumaMemory } from '../../../host/usage/numaMemory.ts';

const MIB = 2 ** 20;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-numa-'));
  for (const [path, text] of [
    ['node8/meminfo', 'Node 8 MemTotal:        8388608 kB\nNode 8 MemFree:          123456 kB'],
    ['node0/meminfo', 'Node 0 MemTotal:        4194304 kB\nNode 0 MemFree:          123456 kB'],
    ['node0/hugepages/hugepages-2048kB/nr_hugepages', '32'],
    ['node0/hugepages/hugepages-1048576kB/nr_hugepages', '1'],
    ['possible', '0,8'],
  ] as const) {
    const file = join(root, 'sys/devices/system/node', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${text}\n`);
  }
});
afterAll(() => rm(root, { recursive: true }));

test('reads the memory and the huge pages of each NUMA node', async () => {
  expect(await readNumaMemory(root)).toEqual([
    {
      id: 0,
      memoryBytes: 4_096 * MIB,
      hugePages: [
        { resource: 'hugepages-1Gi', bytes: 1_024 * MIB },
        { resource: 'hugepages-2Mi', bytes: 64 * MIB },
      ],
    },
    { id: 8, memoryBytes: 8_192 * MIB, hugePages: [] },
  ]);
});

test('finds no NUMA nodes on a kernel without NUMA', async () => {
  expect(await readNumaMemory(join(root, 'none'))).toEqual([]);
});
