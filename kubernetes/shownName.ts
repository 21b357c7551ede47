import { quoted } from '../base/quoted.ts';
import { beginningOf } from '../base/shortText.ts';
import type { Pod } from './api/schema/pod.ts';

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

/** In characters: as long as a namespace and a name may be. */
const LONGEST = 317;

/** `default/app`: an object that a pod names, in quotes where nothing can be called so. A server checks no such name. */
export function shownObject({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  const text = `${namespace}/${name}`;
  return text.length <= LONGEST && /^[\w.-]+\/[\w.:-]+$/.test(text) ? text : quoted(beginningOf(text, LONGEST));
}
