import { expect, test } from '@jest/globals';
import { hasTrustBundles, isTrustBundleGateMissing, listIgnoredGates } from '../../../node/config/featureGates.ts';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';

const [base, projection] = ['ClusterTrustBundle', 'ClusterTrustBundleProjection'];

test.each<[Record<string, boolean> | undefined, boolean, boolean]>([
  [undefined, false, false],
  [{}, false, false],
  [{ [base]: true }, false, false],
  [{ [base]: true, [projection]: true }, true, false],
  [{ [projection]: true }, true, true],
  [{ AllBeta: true }, true, false],
  [{ AllBeta: true, [projection]: false }, false, false],
  [{ AllBeta: true, [base]: false }, true, true],
  [{ AllBeta: false, [projection]: true }, true, true],
  [{ AllAlpha: true }, false, false],
])('%j', (featureGates, isOn, isLacking) => {
  const config = featureGates === undefined ? {} : { featureGates };
  expect([hasTrustBundles(config), isTrustBundleGateMissing(config)]).toEqual([isOn, isLacking]);
});

const file = (gates: string) => {
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  return parseConfigFile('/etc/k.yaml', `${head}featureGates: ${gates}`);
};

test('a warning is given for each feature gate in a file that has no effect', () => {
  expect(listIgnoredGates({})).toEqual([]);
  expect(file(`{${base}: true, ${projection}: true}`).ignoredFields).toEqual([]);
  expect(file('{NodeSwap: true, constructor: false, AllBeta: false}').ignoredFields).toEqual([
    'featureGates.NodeSwap',
    'featureGates.constructor',
  ]);
});

test('a file that enables ClusterTrustBundleProjection without ClusterTrustBundle is rejected', () => {
  expect(() => file(`{${projection}: true}`)).toThrow(
    '/etc/k.yaml: featureGates: ClusterTrustBundleProjection needs the feature gate ClusterTrustBundle',
  );
});
