import { describe, expect, test } from '@jest/globals';
import { withDefaults } from '../../../../kubernetes/api/defaults/defaults.ts';
import { readManifest } from '../../../../kubernetes/api/pods/manifest.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';

/** Returns a manifest as the node runs it, with defaults. */
function podOf(metadata: object, spec: object): Pick<Pod, 'metadata' | 'spec'> {
  const read = readManifest({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', ...metadata }, spec });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  const { namespace = '', uid = '' } = read.pod.metadata;
  return withDefaults({ ...read.pod, metadata: { ...read.pod.metadata, namespace, uid } });
}

const container = (over: object) =>
  podOf({}, { containers: [{ name: 'main', image: 'a:1', ...over }] }).spec.containers[0];

describe('C24: null becomes the zero value', () => {
  test('in a map of strings', () => {
    const { metadata, spec } = podOf(
      { labels: { a: null }, annotations: { x: null }, ownerReferences: null, creationTimestamp: null },
      { nodeSelector: { disk: null }, containers: [{ name: 'main', image: 'a:1' }] },
    );
    expect(metadata.labels).toEqual({ a: '' });
    expect(metadata.annotations).toEqual({ x: '' });
    expect(metadata).not.toHaveProperty('ownerReferences');
    expect(metadata).not.toHaveProperty('creationTimestamp');
    expect(spec.nodeSelector).toEqual({ disk: '' });
  });

  test('in a list of strings or objects', () => {
    expect(container({ args: ['a', '', null] })?.args).toEqual(['a', '', '']);
    expect(container({ ports: [null] })?.ports).toEqual([{ containerPort: 0, protocol: 'TCP' }]);
    expect(container({ env: [{ name: 'A', value: null, valueFrom: null }] })?.env).toEqual([{ name: 'A' }]);
  });

  test('in a list of resources, where it also replaces the limit', () => {
    const resources = { limits: { cpu: '1', memory: '30Mi' }, requests: { cpu: null } };
    expect(container({ resources })?.resources).toEqual({
      limits: { cpu: '1', memory: '30Mi' },
      requests: { cpu: '0', memory: '30Mi' },
    });
  });

  test('of a required field, so that validation reports it', () => {
    expect(container({ image: null })?.image).toBe('');
    expect(container({ readinessProbe: { tcpSocket: {} } })?.readinessProbe?.tcpSocket).toEqual({ port: 0 });
  });

  test('of a volume source, which counts as missing', () => {
    const { spec } = podOf(
      {},
      {
        containers: [],
        volumes: [
          { name: 'e', emptyDir: null },
          { name: 'h', hostPath: null },
        ],
      },
    );
    expect(spec.volumes).toEqual([
      { name: 'e', emptyDir: {} },
      { name: 'h', emptyDir: {} },
    ]);
  });
});

describe('C24: an empty string or 0 is replaced by the default', () => {
  test.each([{ restartPolicy: '' }, { restartPolicy: null }, {}])('in the pod spec %j', (over) => {
    const empty = { dnsPolicy: '', schedulerName: '' };
    expect(podOf({}, { containers: [], ...empty, ...over }).spec).toMatchObject({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
    });
  });

  test('of a container', () => {
    const empty = { imagePullPolicy: '', terminationMessagePath: '', terminationMessagePolicy: '' };
    expect(container({ ...empty, ports: [{ containerPort: 1, protocol: '' }] })).toMatchObject({
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      ports: [{ containerPort: 1, protocol: 'TCP' }],
    });
  });

  test('of a probe and its handler', () => {
    const zeros = { timeoutSeconds: 0, periodSeconds: 0, successThreshold: 0, failureThreshold: 0 };
    const httpGet = { port: 80, path: '', scheme: '' };
    const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    expect(container({ livenessProbe: { httpGet, ...zeros } })?.livenessProbe).toEqual({
      ...probe,
      httpGet: { port: 80, path: '/', scheme: 'HTTP' },
    });
    expect(container({ startupProbe: { exec: {}, ...zeros } })?.startupProbe).toMatchObject(probe);
  });

  test('of a field selector, an image volume and network storage', () => {
    const fieldRef = { apiVersion: '', fieldPath: 'metadata.name' };
    const volumes = [
      { name: 'd', downwardAPI: { items: [{ path: 'a', fieldRef }] } },
      { name: 'i', image: { reference: 'a:1', pullPolicy: '' } },
      { name: 'r', rbd: { monitors: [], image: 'a', pool: '' } },
    ];
    expect(podOf({}, { containers: [], volumes }).spec.volumes).toMatchObject([
      { downwardAPI: { items: [{ fieldRef: { apiVersion: 'v1' } }] } },
      { image: { pullPolicy: 'IfNotPresent' } },
      { rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
    ]);
  });

  test('but not of a pointer, whose zero value is explicit', () => {
    const { spec } = podOf({}, { containers: [], terminationGracePeriodSeconds: 0, enableServiceLinks: false });
    expect(spec).toMatchObject({ terminationGracePeriodSeconds: 0, enableServiceLinks: false });
    expect(podOf({}, { containers: [], terminationGracePeriodSeconds: -1 }).spec.terminationGracePeriodSeconds).toBe(1);
  });
});
