import { withDefaults } from '../../kubernetes/api/defaults/defaults.ts';
import type { Problem } from '../../kubernetes/api/problem.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { validatePod } from '../../kubernetes/api/validate.ts';
import type { StaticRules } from '../../kubernetes/api/validation/pod/static.ts';
import type { PodRequests } from '../../kubernetes/resources/requests.ts';

/** Returns a container with only the required fields. */
export function aContainer(over: Partial<Container> = {}): Container {
  return { name: 'main', image: 'busybox:1', ...over };
}

/** Returns a pod of one container, with the fields that a test needs. */
export function aPod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-1', ...metadata },
    spec: { containers: [aContainer()], ...spec },
  };
}

/** Returns empty requests, with the amounts that a test needs. */
export function requestsWith(over: Partial<PodRequests> = {}): PodRequests {
  return {
    cpuMillis: 0,
    memoryBytes: 0,
    extra: {},
    hostPorts: [],
    critical: false,
    priority: null,
    qos: 'Burstable',
    pod: 'web',
    ...over,
  };
}

/** Returns the problems of a pod after defaulting, as its validation reports them. */
export const problemsIn = (pod: Pod, rules?: Partial<StaticRules>): Problem[] => validatePod(withDefaults(pod), rules);
