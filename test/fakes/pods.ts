import { withDefaults } from '../../kubernetes/api/defaults/defaults.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';

/**
 * An image that the simulated node has from the start. Without a command, its containers run until they are stopped.
 */
export const IMAGE = 'statelet.local/app:1';

/** Returns a container with default values for everything that the test does not set. */
export function containerWith(name: string, more: Partial<Container> = {}): Container {
  return { name, image: IMAGE, ...more };
}

/** Returns a pod with one container `main`, unless the spec has others. Its UID is `<name>-uid`. */
export function podWith(name: string, spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return withDefaults({
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: { name, namespace: 'default', uid: `${name}-uid`, ...metadata },
    spec: { containers: [containerWith('main')], ...spec },
  });
}

/** Returns a pod with one container that runs a command, e.g. `sleep 5` or `sh -c 'exit 3'`. */
export function podRunning(name: string, command: string, spec: Partial<PodSpec> = {}): Pod {
  return podWith(name, { containers: [containerWith('main', { command: ['sh', '-c', command] })], ...spec });
}
