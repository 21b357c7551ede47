import { describe, expect, test } from '@jest/globals';
import { hostWarnings, readHostLimits } from '../../../../node/start/checks/hostChecks.ts';

const suitableHost = { isCgroupV1: false, canLowerOomScoreAdj: true, isSwapEnabled: false };
const lenient = { failCgroupV1: false, failSwapOn: false };

describe('host checks', () => {
  test('return no warning for a suitable host, even if the configuration is strict', () => {
    expect(hostWarnings(suitableHost, { failCgroupV1: true, failSwapOn: true })).toEqual([]);
  });

  test('return one warning for each problem', () => {
    const warnings = hostWarnings({ isCgroupV1: true, canLowerOomScoreAdj: false, isSwapEnabled: true }, lenient);
    expect(warnings).toEqual([
      expect.stringContaining('cgroup v1'),
      expect.stringContaining('CAP_SYS_RESOURCE'),
      expect.stringContaining('swap'),
    ]);
  });

  test('throw if the configuration forbids the problem', () => {
    const { failCgroupV1, failSwapOn } = lenient;
    expect(() => hostWarnings({ ...suitableHost, isCgroupV1: true }, { failCgroupV1: true, failSwapOn })).toThrow(
      'failCgroupV1 is true',
    );
    expect(() => hostWarnings({ ...suitableHost, isSwapEnabled: true }, { failCgroupV1, failSwapOn: true })).toThrow(
      'failSwapOn is true',
    );
  });

  test('read the facts of this host', async () => {
    const facts = await readHostLimits();
    if (process.platform === 'linux') {
      expect(facts).toEqual({
        isCgroupV1: expect.any(Boolean),
        canLowerOomScoreAdj: expect.any(Boolean),
        isSwapEnabled: expect.any(Boolean),
      });
    } else expect(facts).toBeUndefined();
  });
});
