import type { Pod } from '../api/schema/pod.ts';

/** A pod's name for people: with its namespace where that is not `default`. */
export function shownName({ name, namespace }: Pick<Pod['metadata'], 'name' | 'namespace'>): string {
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

/** `default/web`, whatever the namespace. */
export const namespacedName = ({ metadata: { namespace, name } }: Pod): string => `${namespace}/${name}`;

/** The name that a static pod has in its manifest: without the node that it was given. */
export function withoutNode(name: string, node: string): string {
  const end = `-${node.toLowerCase()}`;
  return name.endsWith(end) ? name.slice(0, -end.length) : name;
}
