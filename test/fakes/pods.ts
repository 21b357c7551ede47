import { withDefaults } from '../../kubernetes/api/defaults/defaults.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';

/** The image that is on the simulated node from the start; without a command it runs until it is stopped. */
export const IMAGE = 'statelet.local/app:1';

/** A container with the defaults' say where a test has none. */
export function containerWith(name: string, more: Partial<Container> = {}): Container {
  return { name, image: IMAGE, ...more };
}

/** A pod of one container `main`, or with what a test is about; its uid is `<name>-uid`. */
export function podWith(name: string, spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
  return withDefaults({
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: { name, namespace: 'default', uid: `${name}-uid`, ...metadata },
    spec: { containers: [containerWith('main')], ...spec },
  });
}

/** A pod of one container that runs a command, as `sleep 5` or `sh -c 'exit 3'`. */
export function podRunning(name: string, command: string, spec: Partial<PodSpec> = {}): Pod {
  return podWith(name, { containers: [containerWith('main', { command: ['sh', '-c', command] })], ...spec });
}
