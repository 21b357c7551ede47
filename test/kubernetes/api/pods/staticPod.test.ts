import { describe, expect, test } from '@jest/globals';
import { fullName, isCriticalPod, isStaticPod, toStaticPod } from '../../../../kubernetes/api/pods/staticPod.ts';
import type { PodManifest } from '../../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../fixtures.ts';

const source = { nodeName: 'Node-1', source: 'file', origin: '/pods/web.yaml', seenAt: 0 } as const;
const manifest = (
  over: Partial<PodManifest['spec']> = {},
  metadata: Partial<PodManifest['metadata']> = {},
): PodManifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', ...metadata },
  spec: { containers: [aContainer()], ...over },
});
const uid = (...args: Parameters<typeof manifest>) => toStaticPod(manifest(...args), source).metadata.uid;

describe('C24: static pods', () => {
  test("have the node's name in lower case, a namespace, and annotations with their source", () => {
    const pod = toStaticPod(manifest({}, { annotations: { a: 'b' } }), source);
    expect(pod.metadata).toEqual({
      name: 'web-node-1',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{32}$/),
      annotations: {
        a: 'b',
        'kubernetes.io/config.source': 'file',
        'kubernetes.io/config.seen': '1970-01-01T00:00:00.000Z',
        'kubernetes.io/config.hash': pod.metadata.uid,
      },
    });
    expect(pod.spec.nodeName).toBe('node-1');
    expect(fullName(pod)).toBe('web-node-1_default');
    expect(isStaticPod(pod)).toBe(true);
    expect(isStaticPod(aPod())).toBe(false);
  });

  test('have a UID that depends on content, node and path, not on the time or the order of keys', () => {
    const same = uid();
    expect(toStaticPod(manifest(), { ...source, seenAt: 5 }).metadata.uid).toBe(same);
    const reordered = {
      kind: 'Pod',
      apiVersion: 'v1',
      spec: { containers: [{ image: 'busybox:1', name: 'main' }] },
      metadata: { name: 'web' },
    } as const;
    expect(
      toStaticPod({ ...reordered, spec: { containers: [...reordered.spec.containers] } }, source).metadata.uid,
    ).toBe(same);
    const others = [
      uid({ hostNetwork: true }),
      uid({}, { labels: { a: 'b' } }),
      uid({ containers: [aContainer({ args: ['1', '2'] })] }),
      uid({ containers: [aContainer({ args: ['2', '1'] })] }),
      toStaticPod(manifest(), { ...source, nodeName: 'other' }).metadata.uid,
      toStaticPod(manifest(), { ...source, origin: '/pods/b.yaml' }).metadata.uid,
    ];
    expect(new Set([same, ...others]).size).toBe(7);
  });

  test('have the UID of the manifest if it sets one', () => {
    expect(uid({}, { uid: 'mine' })).toBe('mine');
    expect(uid({ hostNetwork: true }, { uid: 'mine' })).toBe('mine');
  });

  test('from files tolerate every NoExecute taint, without duplicates', () => {
    const all = { operator: 'Exists', effect: 'NoExecute' } as const;
    const own = { key: 'a', operator: 'Exists', effect: 'NoExecute' } as const;
    expect(toStaticPod(manifest({ tolerations: [own, all] }), source).spec.tolerations).toEqual([own, all]);
    expect(toStaticPod(manifest(), { ...source, source: 'http' }).spec.tolerations).toBeUndefined();
  });

  test('are critical, whatever their priority', () => {
    expect(isCriticalPod(toStaticPod(manifest(), source))).toBe(true);
    expect(isCriticalPod(aPod())).toBe(false);
    expect(isCriticalPod(aPod({ priority: 2_000_000_000 }))).toBe(true);
    expect(isCriticalPod(aPod({ priority: 1_999_999_999 }))).toBe(false);
  });

  test('have the value of a system priority class, unless they set a priority', () => {
    const priority = (spec: Partial<PodManifest['spec']>) => toStaticPod(manifest(spec), source).spec.priority;
    expect(priority({ priorityClassName: 'system-node-critical' })).toBe(2_000_001_000);
    expect(priority({ priorityClassName: 'system-cluster-critical' })).toBe(2_000_000_000);
    expect(priority({ priorityClassName: 'system-node-critical', priority: 5 })).toBe(5);
    expect(priority({ priorityClassName: 'mine' })).toBeUndefined();
    expect(priority({ priorityClassName: 'constructor' })).toBeUndefined();
  });
});
