import { describe, expect, test } from '@jest/globals';
import { toStaticPod } from '../../../../../kubernetes/api/pods/staticPod.ts';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import { requiredObjects, validateStatic } from '../../../../../kubernetes/api/validation/pod/static.ts';
import { aContainer, aPod, problemsIn } from '../../../fixtures.ts';

const main = 'spec.containers[0]';
const name = 'o';
const optional = true;
const claim = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } };

function forStatic(over: Partial<PodSpec>, isLenient = false): string[] {
  const manifest = { apiVersion: 'v1' as const, kind: 'Pod' as const, metadata: { name: 'web' } };
  const written = { ...manifest, spec: { containers: [aContainer()], ...over } };
  const pod = toStaticPod(written, { nodeName: 'node', source: 'file', origin: '/a', seenAt: 0 });
  return problemsIn(pod, { isLenient }).map(({ path, message }) => `${path}: ${message}`);
}

describe('C24: a static pod must not reference API objects', () => {
  test.each<[string, string, Partial<PodSpec>]>([
    ['spec.serviceAccountName', 'serviceaccounts', { serviceAccountName: 'a' }],
    ['spec.resourceClaims', 'resourceclaims', { resourceClaims: [{ name: 'a', resourceClaimName: 'b' }] }],
    ['spec.volumes[0].secret', 'secrets', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }],
    ['spec.volumes[0].configMap', 'configmaps', { volumes: [{ name: 'v', configMap: { name: 'c' } }] }],
    [
      'spec.volumes[0].persistentVolumeClaim',
      'persistentvolumeclaims',
      { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'a' } }] },
    ],
    [
      'spec.volumes[0].ephemeral',
      'persistentvolumeclaims (via ephemeral volumes)',
      { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } }] },
    ],
    [
      `${main}.env[0].valueFrom.secretKeyRef`,
      'secrets',
      { containers: [aContainer({ env: [{ name: 'a', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] })] },
    ],
    [
      `${main}.envFrom[0].configMapRef`,
      'configmaps',
      { containers: [aContainer({ envFrom: [{ configMapRef: { name: 'c' } }] })] },
    ],
  ])('in %s, even if the node is lenient', (path, resource, over) => {
    expect(forStatic(over)).toEqual([`${path}: static pods may not reference ${resource}`]);
    expect(forStatic(over, true)).toEqual([`${path}: static pods may not reference ${resource}`]);
    expect(problemsIn(aPod(over))).toEqual([]);
  });

  test('requires a source in a projection', () => {
    const volumes = [{ name: 'all', projected: { sources: [{ downwardAPI: { items: [] } }, {}] } }];
    const problem = 'spec.volumes[0].projected.sources[1]: unknown source for projected volume "all"';
    expect(forStatic({ volumes })).toEqual([problem]);
    expect(forStatic({ volumes }, true)).toEqual([problem]);
  });

  test.each<[string, string, Partial<PodSpec>]>([
    ['spec.serviceAccount', 'serviceaccounts', { serviceAccount: 'a' }],
    ['spec.imagePullSecrets[0]', 'secrets', { imagePullSecrets: [{ name }] }],
    ['spec.volumes[0].secret', 'secrets', { volumes: [{ name, secret: { secretName: 's', optional } }] }],
    ['spec.volumes[0].configMap', 'configmaps', { volumes: [{ name, configMap: { name, optional } }] }],
    ['spec.volumes[0].csi', 'csidrivers (via CSI volumes)', { volumes: [{ name, csi: { driver: 'd' } }] }],
    [
      'spec.volumes[0].rbd.secretRef',
      'secrets',
      { volumes: [{ name, rbd: { monitors: ['m'], image: 'i', secretRef: { name } } }] },
    ],
    [
      'spec.volumes[0].projected.sources[0].secret',
      'secrets',
      { volumes: [{ name, projected: { sources: [{ secret: { name, optional } }] } }] },
    ],
    [
      'spec.volumes[0].projected.sources[0].clusterTrustBundle',
      'clustertrustbundles',
      { volumes: [{ name, projected: { sources: [{ clusterTrustBundle: { name, path: 'ca', optional } }] } }] },
    ],
    [
      `${main}.env[0].valueFrom.configMapKeyRef`,
      'configmaps',
      {
        containers: [
          aContainer({ env: [{ name: 'B', valueFrom: { configMapKeyRef: { name, key: 'k', optional } } }] }),
        ],
      },
    ],
    [
      `${main}.envFrom[0].secretRef`,
      'secrets',
      { containers: [aContainer({ envFrom: [{ secretRef: { name, optional } }] })] },
    ],
  ])('in %s, unless the node is lenient', (path, resource, over) => {
    const hint = '(accepted with --lenient-manifests)';
    expect(forStatic(over)).toEqual([`${path}: static pods may not reference ${resource} ${hint}`]);
    expect(forStatic(over, true)).toEqual([]);
  });

  test('accepts a reference without a name', () => {
    expect(forStatic({ imagePullSecrets: [{}, { name: '' }], serviceAccountName: '', resourceClaims: [] })).toEqual([]);
  });

  test('rejects a token, which needs a service account', () => {
    const sources = [{ downwardAPI: {} }, { serviceAccountToken: { path: 'a' } }];
    const volumes = [{ name: 'v', projected: { sources } }];
    const at = 'spec.volumes[0].projected.sources[1].serviceAccountToken';
    expect(forStatic({ volumes }, true)).toEqual([
      `${at}: Forbidden: must not be specified when serviceAccountName is not set`,
    ]);
    expect(forStatic({ volumes, serviceAccountName: 'a' }, true)).toEqual([
      'spec.serviceAccountName: static pods may not reference serviceaccounts',
      `${at}: static pods may not reference serviceaccounts (via projected volumes)`,
    ]);
    expect(problemsIn(aPod({ volumes }))).toEqual([]);
  });

  test('rejects ephemeral containers', () => {
    expect(forStatic({ ephemeralContainers: [aContainer({ name: 'e' })] })).toEqual([
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ]);
  });
});

describe('objects that the source of a static pod can provide', () => {
  const volumes = [
    { name: 'a', configMap: { name: 'c' } },
    { name: 'b', secret: { secretName: 's', optional } },
    { name: 'p', projected: { sources: [{ secret: { name: 's' } }, { configMap: { name: 'c' } }] } },
  ];
  const env = [
    { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    { name: 'B', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
  ];
  const envFrom = [{ secretRef: { name: 's' } }, { configMapRef: { name: 'c' } }];
  const spec = { volumes, imagePullSecrets: [{ name: 's' }], containers: [aContainer({ env, envFrom })] };

  test('are returned as required, and accepted if the caller checks them', () => {
    const needs = requiredObjects(spec, false);
    expect(needs.map(({ kind, name, path }) => `${path}: ${kind} ${name}`)).toEqual([
      'spec.imagePullSecrets[0]: Secret s',
      'spec.volumes[0].configMap: ConfigMap c',
      'spec.volumes[1].secret: Secret s',
      'spec.volumes[2].projected.sources[0].secret: Secret s',
      'spec.volumes[2].projected.sources[1].configMap: ConfigMap c',
      `${main}.env[0].valueFrom.secretKeyRef: Secret s`,
      `${main}.env[1].valueFrom.configMapKeyRef: ConfigMap c`,
      `${main}.envFrom[0].secretRef: Secret s`,
      `${main}.envFrom[1].configMapRef: ConfigMap c`,
    ]);
    expect(forStatic(spec).map((message) => message.split(': ')[0])).toEqual(needs.map(({ path }) => path));
    expect(validateStatic(spec, { isLenient: false, acceptsObjects: true })).toEqual([]);
  });

  test('are not required on a lenient node if the pod can run without them', () => {
    expect(requiredObjects(spec, true).map(({ path }) => path)).not.toContain('spec.volumes[1].secret');
    expect(requiredObjects(spec, true)).toHaveLength(7);
  });

  test('need a name, and exclude other API objects', () => {
    const others = { serviceAccountName: 'a', volumes: [{ name: 'v', secret: {} }], containers: [aContainer()] };
    expect(requiredObjects(others, false)).toEqual([]);
    expect(validateStatic(others, { isLenient: false, acceptsObjects: true })).toHaveLength(2);
  });
});
