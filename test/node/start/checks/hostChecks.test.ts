import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  hostWarnings,
  isSwapEnabled,
  readHostLimits,
  swappedVolumesEvent,
} from '../../../../node/start/checks/hostChecks.ts';

const suitableHost = { isCgroupV1: false, canLowerOomScoreAdj: true, isSwapEnabled: false, wrongParameters: [] };
const hostSetup = { kernelParameters: 'set' } as const;
const resources = { limitedSwap: false };
const lenient = { failCgroupV1: false, failSwapOn: false, hostSetup, resources };

describe('host checks', () => {
  test('return no warning for a suitable host, even if the configuration is strict', () => {
    expect(hostWarnings(suitableHost, { ...lenient, failCgroupV1: true, failSwapOn: true })).toEqual([]);
  });

  test('return one warning for each problem', () => {
    const warnings = hostWarnings(
      { isCgroupV1: true, canLowerOomScoreAdj: false, isSwapEnabled: true, wrongParameters: [] },
      lenient,
    );
    expect(warnings).toEqual([
      expect.stringContaining('cgroup v1'),
      expect.stringContaining('CAP_SYS_RESOURCE'),
      expect.stringContaining('swap'),
    ]);
  });

  test('say that LimitedSwap has no effect on cgroup v1', () => {
    const limitedSwap = { ...lenient, resources: { limitedSwap: true } };
    expect(hostWarnings({ ...suitableHost, isCgroupV1: true }, limitedSwap)).toEqual([
      expect.stringContaining('cgroup v1'),
      'swapBehavior LimitedSwap needs cgroup v2: containers do not swap',
    ]);
    expect(hostWarnings(suitableHost, limitedSwap)).toEqual([]);
  });

  test('throw if the configuration forbids the problem', () => {
    expect(() => hostWarnings({ ...suitableHost, isCgroupV1: true }, { ...lenient, failCgroupV1: true })).toThrow(
      'failCgroupV1 is true',
    );
    expect(() => hostWarnings({ ...suitableHost, isSwapEnabled: true }, { ...lenient, failSwapOn: true })).toThrow(
      'failSwapOn is true',
    );
  });

  test("throw with the kubelet's messages if required kernel parameters differ, which are no warnings otherwise", () => {
    const overcommit = {
      name: 'vm/overcommit_memory',
      expected: 1,
      actual: 0,
      message: 'invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0',
    };
    const facts = { ...suitableHost, wrongParameters: [overcommit] };
    expect(() => hostWarnings(facts, { ...lenient, hostSetup: { kernelParameters: 'required' } })).toThrow(
      new Error('invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0'),
    );
    for (const kernelParameters of ['set', 'unchanged'] as const)
      expect(hostWarnings(facts, { ...lenient, hostSetup: { kernelParameters } })).toEqual([]);
  });

  test('report that volumes in memory may reach the disk only if the host has swap that a tmpfs cannot avoid', () => {
    expect(swappedVolumesEvent({ isSwapEnabled: true, tmpfsNoswap: false })).toEqual({
      eventType: 'Warning',
      reason: 'PossibleMemoryBackedVolumesOnDisk',
      message:
        'The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.',
    });
    expect(swappedVolumesEvent({ isSwapEnabled: true, tmpfsNoswap: true })).toBeUndefined();
    expect(swappedVolumesEvent({ isSwapEnabled: false, tmpfsNoswap: false })).toBeUndefined();
  });

  test('detect swap by a line below the heading of /proc/swaps', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'statelet-swaps-'));
    const file = join(directory, 'swaps');
    await writeFile(file, 'Filename\tType\tSize\n');
    expect(await isSwapEnabled(file)).toBe(false);
    await writeFile(file, 'Filename\tType\tSize\n/swapfile file 1024\n');
    expect(await isSwapEnabled(file)).toBe(true);
    await rm(directory, { recursive: true });
    expect(await isSwapEnabled(file)).toBe(false);
  });

  test('read the facts of this host', async () => {
    const facts = await readHostLimits();
    if (process.platform === 'linux') {
      expect(facts).toEqual({
        isCgroupV1: expect.any(Boolean),
        canLowerOomScoreAdj: expect.any(Boolean),
        isSwapEnabled: expect.any(Boolean),
        wrongParameters: expect.any(Array),
      });
    } else expect(facts).toBeUndefined();
  });
});
