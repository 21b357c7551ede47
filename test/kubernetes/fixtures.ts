import { withDefaults } from '../../kubernetes/api/defaults.ts';
import type { Problem } from '../../kubernetes/api/problem.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { validatePod } from '../../kubernetes/api/validate.ts';
import type { StaticRules } from '../../kubernetes/api/validation/static.ts';
import type { PodRequests } from '../../kubernetes/resources/requests.ts';

/** A container that says no more than it must. */
export function aContainer(over: Partial<Container> = {}): Container {
  return { name: 'main', image: 'busybox:1', ...over };
}

/** A pod of one container, or with what a test is about. */
export function aPod(spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-1', ...metadata },
    spec: { containers: [aContainer()], ...spec },
  };
}

/** What a pod takes that asks for nothing, or for what a test is about. */
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

/** The problems of a pod once it has its defaults, as whoever checks one gives it. */
export const problemsIn = (pod: Pod, rules?: Partial<StaticRules>): Problem[] => validatePod(withDefaults(pod), rules);
