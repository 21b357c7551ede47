/** What /metrics/cadvisor tells of the host that the tests run on. */
import { cpus } from 'node:os';
import { expect, test } from '@jest/globals';
import { readMemoryModules } from '../../../host/usage/memoryModules.ts';
import { createCadvisorHostReader } from '../../../node/host/cadvisorHost.ts';

const { signal } = new AbortController();

function looking(answers: readonly (Readonly<Record<string, string>> | Error)[]) {
  const asked = [...answers];
  const status = async () => {
    const info = asked.shift();
    if (info === undefined) throw new Error('asked too often');
    if (info instanceof Error) throw info;
    return { info, status: undefined, runtimeHandlers: [], features: undefined };
  };
  return createCadvisorHostReader({ cri: { status }, clock: { monotonic: () => 0 } });
}

test('the facts of the host include its processors, memory and disks', async () => {
  const { machine, disks, bootedAt, nameDevice } = await looking([{}])(signal);
  expect(machine).toMatchObject({ cores: cpus().length, kernelVersion: expect.stringMatching(/^\d/) });
  expect(machine.physicalCores).toBeGreaterThan(0);
  expect(machine.memoryBytes).toBeGreaterThan(0);
  expect(machine.memoryModules).toEqual(await readMemoryModules());
  expect(machine.bootId).toMatch(/^[0-9a-f-]{36}$/);
  expect(bootedAt).toBeGreaterThan(0);
  for (const disk of disks) expect(disk.usedBytes).toBeLessThanOrEqual(disk.capacityBytes);
  expect(nameDevice({ major: 4_000, minor: 1 })).toBe('4000:1');
});

test('the sandbox image is queried until the runtime has reported it', async () => {
  const config = JSON.stringify({ sandboxImage: 'registry.k8s.io/pause:3.6' });
  const look = looking([new Error('away'), { config: 'no JSON' }, { config: '{}' }, { config }]);
  const images = [];
  for (let at = 0; at < 5; at += 1) images.push((await look(signal)).pauseImage);
  expect(images).toEqual(['', '', '', ...Array(2).fill('registry.k8s.io/pause:3.6')]);
});
