import { describe, expect, test } from '@jest/globals';
import { withoutDisabledFields } from '../../../../../../testing/apiserver/registry/strategies/pods/disabledFields.ts';

const sources = [
  { clusterTrustBundle: { name: 'a', path: 'a' } },
  { podCertificate: { signerName: 'a/b', keyType: 'RSA3072', credentialBundlePath: 'b' } },
  { secret: { name: 's' } },
];
const pod = {
  spec: {
    schedulingGroup: { podGroupName: 'g' },
    volumes: [
      { name: 'v', projected: { sources } },
      { name: 'e', emptyDir: {} },
    ],
    initContainers: [{ name: 'i', lifecycle: { stopSignal: 'SIGINT' } }],
    containers: [{ name: 'c', lifecycle: { stopSignal: 'SIGINT', preStop: { sleep: { seconds: 1 } } } }],
  },
};
const ALL = ['ClusterTrustBundleProjection', 'ContainerStopSignals', 'GenericWorkload', 'PodCertificateRequest'];

describe('fields of features that are disabled in 1.36', () => {
  test('are dropped from a new pod', () => {
    expect(withoutDisabledFields(pod, undefined, new Set())).toEqual({
      spec: {
        volumes: [
          { name: 'v', projected: { sources: [{}, {}, sources[2]] } },
          { name: 'e', emptyDir: {} },
        ],
        initContainers: [{ name: 'i' }],
        containers: [{ name: 'c', lifecycle: { preStop: { sleep: { seconds: 1 } } } }],
      },
    });
  });

  test('are retained if the feature is enabled, or if the pod already had the field', () => {
    expect(withoutDisabledFields(pod, undefined, new Set(ALL))).toBe(pod);
    expect(withoutDisabledFields(pod, pod, new Set())).toBe(pod);
    const before = { spec: { containers: [{ name: 'c', lifecycle: { stopSignal: 'SIGINT' } }] } };
    expect(withoutDisabledFields(pod, before, new Set()).spec).toMatchObject({
      initContainers: pod.spec.initContainers,
      volumes: [{ projected: { sources: [{}, {}, sources[2]] } }, {}],
    });
  });
});
