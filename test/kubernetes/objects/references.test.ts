import { expect, test } from '@jest/globals';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { referencesOf } from '../../../kubernetes/objects/references.ts';

const of = (spec: Partial<PodSpec>) => referencesOf({ spec: { containers: [], ...spec } as PodSpec });

test('all references of a pod are found', () => {
  const container = (name: string) => ({
    name,
    image: 'i',
    envFrom: [{ configMapRef: { name: `${name}-map` } }, { secretRef: { name: `${name}-secret` } }],
    env: [
      { name: 'A', valueFrom: { configMapKeyRef: { name: `${name}-key`, key: 'k' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: `${name}-hidden`, key: 'k' } } },
      { name: 'C', value: 'plain' },
    ],
  });
  const found = of({
    initContainers: [container('init')],
    containers: [container('main')],
    volumes: [
      { name: 'a', configMap: { name: 'shown' } },
      { name: 'b', secret: { secretName: 'shown-secret' } },
      { name: 'c', projected: { sources: [{ configMap: { name: 'one' } }, { secret: { name: 'two' } }] } },
      { name: 'd', emptyDir: {} },
    ],
    imagePullSecrets: [{ name: 'registry' }],
  });
  expect(found.map(({ kind, name, isInVolume }) => `${kind}/${name}${isInVolume ? ' shown' : ''}`)).toEqual([
    ...['init', 'main'].flatMap((name) => [
      `ConfigMap/${name}-map`,
      `Secret/${name}-secret`,
      `ConfigMap/${name}-key`,
      `Secret/${name}-hidden`,
    ]),
    'ConfigMap/shown shown',
    'Secret/shown-secret shown',
    'ConfigMap/one shown',
    'Secret/two shown',
    'Secret/registry',
  ]);
});

test('references to the same object are merged, including whether a volume uses it', () => {
  const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'constructor', key: 'k' } } }];
  const found = of({
    containers: [{ name: 'main', image: 'i', env }],
    volumes: [{ name: 'a', configMap: { name: 'constructor' } }],
  });
  expect(found).toEqual([{ kind: 'ConfigMap', name: 'constructor', isInVolume: true }]);
});
