import { describe, expect, test } from '@jest/globals';
import { withDefaults } from '../../../../kubernetes/api/defaults/defaults.ts';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { Volume } from '../../../../kubernetes/api/schema/volume.ts';
import { defaultPullPolicy } from '../../../../kubernetes/images/pullPolicy.ts';
import { aContainer, aPod } from '../../fixtures.ts';

const container = (over: Partial<Container>) =>
  withDefaults(aPod({ containers: [aContainer(over)] })).spec.containers[0];
const volume = (source: Omit<Volume, 'name'>) =>
  withDefaults(aPod({ volumes: [{ name: 'v', ...source }] })).spec.volumes?.[0];

describe('withDefaults', () => {
  test("a bare pod gets the API server's values", () => {
    expect(withDefaults(aPod()).spec).toEqual({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      securityContext: {},
      containers: [
        {
          name: 'main',
          image: 'busybox:1',
          imagePullPolicy: 'IfNotPresent',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          resources: {},
        },
      ],
    });
  });

  test('preserves explicit values, including zero, false and empty ones', () => {
    const pod = aPod({
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      enableServiceLinks: false,
      containers: [
        aContainer({ imagePullPolicy: 'Never', readinessProbe: { exec: { command: ['a'] }, periodSeconds: 3 } }),
      ],
    });
    expect(withDefaults(pod)).toMatchObject(pod);
  });

  test('is idempotent, and does not modify the pod', () => {
    const pod = aPod({ volumes: [{ name: 'v' }], initContainers: [aContainer({ name: 'init' })] });
    const copy = structuredClone(pod);
    const once = withDefaults(pod);
    expect(withDefaults(once)).toEqual(once);
    expect(pod).toEqual(copy);
    expect(once.spec.initContainers?.[0]).toHaveProperty('imagePullPolicy', 'IfNotPresent');
  });

  test.each([
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['busybox:1', 'IfNotPresent'],
    ['host:5000/busybox', 'Always'],
    ['host:5000/a/busybox:v1', 'IfNotPresent'],
    [`busybox@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
    [`busybox:latest@sha256:${'0'.repeat(64)}`, 'Always'],
    ['busybox@sha256:0123', 'IfNotPresent'],
    ['Busybox', 'IfNotPresent'],
    ['busybox:', 'IfNotPresent'],
  ])('C17: the pull policy of %s is %s', (image, policy) => {
    expect(defaultPullPolicy(image)).toBe(policy);
    expect(container({ image })).toHaveProperty('imagePullPolicy', policy);
  });

  test('sets the protocol of ports to TCP, and host ports on the host network', () => {
    const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' as const }];
    expect(container({ ports })?.ports).toEqual([
      { containerPort: 80, protocol: 'TCP' },
      { containerPort: 53, protocol: 'UDP' },
    ]);
    const host = withDefaults(aPod({ hostNetwork: true, containers: [aContainer({ ports })] }));
    expect(host.spec.containers[0]?.ports?.map(({ hostPort }) => hostPort)).toEqual([80, 53]);
  });

  test('defaults probes and hooks', () => {
    expect(container({ livenessProbe: { httpGet: { port: 80 } } })?.livenessProbe).toEqual({
      httpGet: { path: '/', port: 80, scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
    expect(container({ startupProbe: { grpc: { port: 1 } } })?.startupProbe?.grpc).toEqual({ port: 1, service: '' });
    expect(container({ lifecycle: { preStop: { httpGet: { port: 80, path: '/x' } } } })?.lifecycle).toEqual({
      preStop: { httpGet: { path: '/x', port: 80, scheme: 'HTTP' } },
    });
  });

  test('sets missing requests to the limits', () => {
    const resources = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } };
    expect(container({ resources })?.resources?.requests).toEqual({ cpu: '1', memory: '1Gi' });
  });

  test("sets the pod's requests to those of its containers, else to its limits", () => {
    const pod = aPod({
      resources: { limits: { cpu: '2', memory: '1Gi' } },
      containers: [
        aContainer({ resources: { requests: { cpu: '100m' } } }),
        aContainer({ name: 'b', resources: { limits: { cpu: '0.2' } } }),
      ],
    });
    expect(withDefaults(pod).spec.resources?.requests).toEqual({ cpu: '300m', memory: '1Gi' });
  });

  test.each<[string, Omit<Volume, 'name'>, object]>([
    ['no source', {}, { emptyDir: {} }],
    ['hostPath', { hostPath: { path: '/a' } }, { hostPath: { path: '/a', type: '' } }],
    ['configMap', { configMap: { name: 'c' } }, { configMap: { name: 'c', defaultMode: 0o644 } }],
    ['secret', { secret: { defaultMode: 0o400 } }, { secret: { defaultMode: 0o400 } }],
    [
      'downwardAPI',
      { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
      {
        downwardAPI: {
          defaultMode: 0o644,
          items: [{ path: 'a', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }],
        },
      },
    ],
    [
      'projected',
      { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      { projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
    ],
    ['image', { image: { reference: 'a:1' } }, { image: { reference: 'a:1', pullPolicy: 'IfNotPresent' } }],
  ])('completes a volume with %s', (_what, source, expected) => {
    expect(volume(source)).toEqual({ name: 'v', ...expected });
  });

  test('sets the version of a fieldRef to v1', () => {
    const env = [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
    expect(container({ env })?.env?.[0]?.valueFrom?.fieldRef?.apiVersion).toBe('v1');
  });
});
