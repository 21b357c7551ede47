/** Host information in /metrics/cadvisor, on the host that runs the tests. */
import { cpus } from 'node:os';
import { expect, test } from '@jest/globals';
import * as wire from '../../../cri/generated/runtime.ts';
import { readMemoryModules } from '../../../host/usage/memoryModules.ts';
import { createCadvisorHostReader } from '../../../node/host/cadvisorHost.ts';

const { signal } = new AbortController();

function looking(answers: readonly (Readonly<Record<string, string>> | Error)[], sandboxInfo?: string) {
  const asked = [...answers];
  const status = async () => {
    const info = asked.shift();
    if (info === undefined) throw new Error('asked too often');
    if (info instanceof Error) throw info;
    return { info, status: undefined, runtimeHandlers: [], features: undefined };
  };
  const sandboxes = sandboxInfo === undefined ? [] : [wire.PodSandbox.fromPartial({ id: 'first' })];
  const cri = {
    status,
    listPodSandbox: async () => ({ items: sandboxes }),
    podSandboxStatus: async ({ podSandboxId, verbose }: wire.PodSandboxStatusRequest) =>
      wire.PodSandboxStatusResponse.fromPartial({
        info: podSandboxId === 'first' && verbose ? { info: sandboxInfo } : {},
      }),
  };
  return createCadvisorHostReader({ cri, clock: { monotonic: () => 0 } });
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

test.each([
  ['of containerd 2', '{"image":"registry.k8s.io/pause:3.10","pid":1}', 'registry.k8s.io/pause:3.10'],
  ['without an image', '{"pid":1}', ''],
  ['that is no JSON', 'none', ''],
])('the sandbox image is read from the status of a sandbox %s', async (_, info, expected) => {
  expect((await looking([{ config: '{}' }], info)(signal)).pauseImage).toBe(expected);
});
