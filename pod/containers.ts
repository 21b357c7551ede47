import type { Container } from './schema/container.ts';
import type { PodSpec } from './schema/pod.ts';
import type { ContainerRole } from './view.ts';

/** An init container that stays beside the others (C4): its own restartPolicy is Always. */
export function isSidecar(init: Container): boolean {
  return init.restartPolicy === 'Always';
}

/** Every container of a pod with its role and where in the spec it stands, init containers first. */
export function* containersOf(
  spec: PodSpec,
): Generator<{ container: Container; role: ContainerRole; field: string; index: number }> {
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    yield { container, role: isSidecar(container) ? 'sidecar' : 'init', field: 'initContainers', index };
  }
  for (const [index, container] of spec.containers.entries()) {
    yield { container, role: 'regular', field: 'containers', index };
  }
  for (const [index, container] of (spec.ephemeralContainers ?? []).entries()) {
    yield { container, role: 'ephemeral', field: 'ephemeralContainers', index };
  }
}
