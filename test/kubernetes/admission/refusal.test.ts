import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type PodRequests, requestsOf, resourceConflict } from '../../../kubernetes/resources/requests.ts';

const pod = (name: string, container: object): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', uid: name },
  spec: { containers: [{ name: 'app', image: 'app:1', ...container }] },
});

const asking = (requests: Record<string, string>): PodRequests => requestsOf(pod('asks', { resources: { requests } }));
const capacity = { pods: 2, cpuMillis: 2_000, memoryBytes: 2 * 2 ** 30 };

describe('the explanation of a rejection', () => {
  test.each([
    [{ cpu: '100' }, 'requests 100 CPUs, but the node has 2'],
    [{ cpu: '1' }, "requests 1 CPU, but 1.5 of the node's 2 are allocated to pod shop/asks"],
    [{ memory: '3Gi' }, 'requests 3Gi of memory, but the node has 2Gi'],
  ])('for requests of %j is: %s', (requests, cause) => {
    expect(resourceConflict(asking(requests), [asking({ cpu: '1500m' })], capacity)?.cause).toBe(cause);
  });

  test('names the pods that use most of a resource, the largest first', () => {
    const holding = (name: string, memory: string) => requestsOf(pod(name, { resources: { requests: { memory } } }));
    const others = [
      holding('a', '128Mi'),
      holding('b', '1Gi'),
      holding('c', '256Mi'),
      holding('d', '64Mi'),
      holding('e', '64Mi'),
    ];
    expect(resourceConflict(asking({ memory: '1Gi' }), others, { ...capacity, pods: 9 })?.cause).toBe(
      "requests 1Gi of memory, but 1.5Gi of the node's 2Gi are allocated (1Gi to pod shop/b, 256Mi to pod shop/c, 128Mi to pod shop/a, the rest to 2 other pods)",
    );
  });

  test('states the maximum number of pods', () => {
    expect(resourceConflict(asking({}), [asking({}), asking({})], capacity)?.cause).toBe(
      'the node allows 2 pods and already has 2',
    );
  });

  test('names the host port and the pod that uses it', () => {
    const holding = (name: string) => requestsOf(pod(name, { ports: [{ containerPort: 80, hostPort: 8080 }] }));
    expect(resourceConflict(holding('two'), [asking({}), holding('one')], { ...capacity, pods: 9 })?.cause).toBe(
      'host port 8080/TCP is in use by pod shop/one',
    );
  });
});
