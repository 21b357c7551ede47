import { expect, test } from '@jest/globals';
import { shutdownPeriods } from '../../../../node/config/compile/shutdown.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const read = (yaml: string) => parseConfigFile('k.yaml', head + yaml);
const compiled = (yaml: string) => shutdownPeriods(settingValues({ flags: {}, file: read(yaml).config }));

test('by default, the node does not delay a shutdown', () => {
  expect(compiled('')).toEqual([]);
});

test('ordinary and critical pods share the time of a shutdown', () => {
  const yaml = 'shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\n';
  expect(compiled(yaml)).toEqual([
    { priority: 0, graceSeconds: 20 },
    { priority: 2_000_000_000, graceSeconds: 10 },
  ]);
  expect(read(yaml).ignoredFields).toEqual([]);
});

test('pods terminate in the order of the configured priorities', () => {
  const group = (priority: number, seconds: number) => ({ priority, shutdownGracePeriodSeconds: seconds });
  const yaml = `shutdownGracePeriodByPodPriority: ${JSON.stringify([group(100, 5), group(0, 7)])}`;
  expect(compiled(yaml)).toEqual([
    { priority: 0, graceSeconds: 7 },
    { priority: 100, graceSeconds: 5 },
  ]);
});

test('a disabled feature gate allows no time, as in a kubelet', () => {
  expect(compiled('featureGates: {GracefulNodeShutdown: false}')).toEqual([]);
  expect(() => read('shutdownGracePeriod: 5s\nfeatureGates: {GracefulNodeShutdown: false}')).toThrow(
    'shutdownGracePeriod: needs the feature gate GracefulNodeShutdown',
  );
  const byPriority = 'shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 1}]\n';
  expect(() => read(`${byPriority}featureGates: {GracefulNodeShutdownBasedOnPodPriority: false}`)).toThrow(
    'shutdownGracePeriodByPodPriority: needs the feature gate GracefulNodeShutdownBasedOnPodPriority',
  );
});
