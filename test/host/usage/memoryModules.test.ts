import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { readMemoryModules } from '../../../host/usage/memoryModules.ts';

const directory = await mkdtemp(join(tmpdir(), 'statelet-edac-'));
afterAll(() => rm(directory, { recursive: true }));

async function addModule(slot: string, type: string, mebibytes: number): Promise<void> {
  await mkdir(join(directory, slot), { recursive: true });
  await writeFile(join(directory, slot, 'dimm_mem_type'), `${type}\n`);
  await writeFile(join(directory, slot, 'size'), `${mebibytes}\n`);
}

test('the memory modules of all controllers are counted by type', async () => {
  await addModule('mc0/dimm0', 'Registered-DDR4', 16_384);
  await addModule('mc0/dimm1', 'Registered-DDR4', 16_384);
  await addModule('mc1/dimm0', 'Unbuffered-DDR4', 8_192);
  await addModule('power/dimm0', 'Registered-DDR4', 4_096);
  await mkdir(join(directory, 'mc0/csrow0'));
  expect(await readMemoryModules(directory)).toEqual([
    { type: 'Registered-DDR4', count: 2, bytes: 2 ** 35 },
    { type: 'Unbuffered-DDR4', count: 1, bytes: 2 ** 33 },
  ]);
});

test('a host without memory controllers, or with a module whose size is malformed or cannot be read, has no known modules', async () => {
  expect(await readMemoryModules(join(directory, 'none'))).toEqual([]);
  await addModule('mc1/dimm8', 'Unbuffered-DDR4', Number.NaN);
  expect(await readMemoryModules(directory)).toEqual([]);
  await rm(join(directory, 'mc1/dimm8'), { recursive: true });
  await mkdir(join(directory, 'mc1/dimm9'));
  expect(await readMemoryModules(directory)).toEqual([]);
});
