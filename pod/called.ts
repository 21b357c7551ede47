import type { Pod } from './schema/pod.ts';

/** Whether a user may mean by a name the object of this full name, on this node. */
export const isCalled = (name: string, fullName: string, node: string): boolean =>
  fullName === name || fullName === `${name}-${node.toLowerCase()}`;

/** The pods that a user may mean by a name: those of this full name, else those whose manifest has it (C24). */
export function podsCalled(name: string, pods: readonly Pod[]): Pod[] {
  const exact = pods.filter(({ metadata }) => metadata.name === name);
  if (exact.length > 0) return exact;
  return pods.filter(({ metadata, spec }) => metadata.name === `${name}-${spec.nodeName}`);
}
