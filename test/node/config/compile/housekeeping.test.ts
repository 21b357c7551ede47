import { expect, test } from '@jest/globals';
import { compileHousekeeping } from '../../../../node/config/compile/housekeeping.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (yaml: string) => parseConfigFile('k.yaml', head + yaml);
const compiled = (yaml: string, flags: Record<string, string> = {}) =>
  compileHousekeeping(settingValues({ flags: readFlags(flags), file: read(yaml).config }));

test('a log size is a quantity, and a negative one means no limit', () => {
  const fields =
    'containerLogMaxSize: 1.5Mi\ncontainerLogMaxFiles: 3\ncontainerLogMaxWorkers: 2\ncontainerLogMonitorInterval: 5s\n';
  expect(compiled(fields).logRotation).toEqual({ maxBytes: 1.5 * 2 ** 20, maxFiles: 3, workers: 2, checkMs: 5_000 });
  expect(compiled('containerLogMaxSize: "-1"').logRotation.maxBytes).toBe(Infinity);
  expect(compiled('containerLogMaxSize: 5000').logRotation.maxBytes).toBe(5_000);
  expect(read(fields).ignoredFields).toEqual([]);
});

test.each([
  ['containerLogMaxSize: ten', 'containerLogMaxSize: expected a quantity such as "10Mi", or a negative one'],
  ['containerLogMaxFiles: 1', 'containerLogMaxFiles: expected a whole number of at least 2, got 1'],
  ['containerLogMaxWorkers: 0', 'containerLogMaxWorkers: expected a whole number of at least 1, got 0'],
  [
    'containerLogMonitorInterval: 1s',
    'containerLogMonitorInterval: expected a duration such as "30s" or "1m30s" of at',
  ],
])('the setting "%s" is rejected', (yaml, message) => {
  expect(() => compiled(yaml)).toThrow(message);
});

test('the number of retained dead containers is set by flags', () => {
  const flags = { '--maximum-dead-containers-per-container': '2', '--maximum-dead-containers': '40' };
  expect(compiled('', flags).deadContainerLimits).toEqual({ perContainer: 2, total: 40, minAgeMs: 0 });
  expect(compiled('', { '--minimum-container-ttl-duration': '90s' }).deadContainerLimits.minAgeMs).toBe(90_000);
  expect(compiled('', { '--maximum-dead-containers-per-container': '-1' }).deadContainerLimits.perContainer).toBe(
    Infinity,
  );
  expect(() => readFlags({ '--maximum-dead-containers': 'many' })).toThrow(
    '--maximum-dead-containers: expected a whole',
  );
});

test('C47: the removal of unused images is configurable', () => {
  expect(compiled('').imageGarbage).toEqual({
    highThresholdPercent: 85,
    lowThresholdPercent: 80,
    minAgeMs: 120_000,
    maxAgeMs: 0,
  });
  const fields =
    'imageGCHighThresholdPercent: 70\nimageGCLowThresholdPercent: 0\nimageMinimumGCAge: 1m\nimageMaximumGCAge: 48h\n';
  expect(compiled(fields).imageGarbage).toEqual({
    highThresholdPercent: 70,
    lowThresholdPercent: 0,
    minAgeMs: 60_000,
    maxAgeMs: 48 * 3_600_000,
  });
  expect(read(fields).ignoredFields).toEqual([]);
});
