import { describe, expect, test } from '@jest/globals';
import { hostWarnings, readHostFacts } from '../../../node/start/hostChecks.ts';

const good = { cgroupV1: false, mayLowerOomScore: true, swapOn: false };
const lenient = { failCgroupV1: false, failSwapOn: false };

describe('what the host lacks', () => {
  test('a good host gives no warning, even to a strict configuration', () => {
    expect(hostWarnings(good, { failCgroupV1: true, failSwapOn: true })).toEqual([]);
  });

  test('is one warning each', () => {
    const warnings = hostWarnings({ cgroupV1: true, mayLowerOomScore: false, swapOn: true }, lenient);
    expect(warnings).toEqual([
      expect.stringContaining('cgroup v1'),
      expect.stringContaining('CAP_SYS_RESOURCE'),
      expect.stringContaining('swap'),
    ]);
  });

  test('stops the node where the configuration says so', () => {
    const { failCgroupV1, failSwapOn } = lenient;
    expect(() => hostWarnings({ ...good, cgroupV1: true }, { failCgroupV1: true, failSwapOn })).toThrow(
      'failCgroupV1 is true',
    );
    expect(() => hostWarnings({ ...good, swapOn: true }, { failCgroupV1, failSwapOn: true })).toThrow(
      'failSwapOn is true',
    );
  });

  test('is read from this host', async () => {
    const facts = await readHostFacts();
    if (process.platform === 'linux') {
      expect(facts).toEqual({
        cgroupV1: expect.any(Boolean),
        mayLowerOomScore: expect.any(Boolean),
        swapOn: expect.any(Boolean),
      });
    } else expect(facts).toBeUndefined();
  });
});
