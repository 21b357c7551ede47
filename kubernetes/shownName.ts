import { quotedText } from '../base/text/quotedText.ts';
import { truncate } from '../base/text/shortText.ts';
import type { Pod } from './api/schema/pod.ts';

/** Returns the name of a pod for display. Includes the namespace unless it is `default`. */
export function displayName({ name, namespace }: Pick<Pod['metadata'], 'name' | 'namespace'>): string {
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

/** Returns `namespace/name`, e.g. `default/web`. */
export const namespacedName = ({ metadata: { namespace, name } }: Pod): string => `${namespace}/${name}`;

/** Returns the name of a static pod as in its manifest, without the node suffix. */
export function withoutNodeSuffix(name: string, node: string): string {
  const suffix = `-${node.toLowerCase()}`;
  return name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

/** Maximum length of a valid namespace, a slash and a valid name, in characters. A longer name is quoted. */
const MAX_OBJECT_NAME_LENGTH = 317;

/**
 * Formats the name of an object that a pod references, e.g. `default/app`. Quotes an invalid name, which can occur
 * because API servers do not validate such references.
 */
export function formatObjectName({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  const text = `${namespace}/${name}`;
  return text.length <= MAX_OBJECT_NAME_LENGTH && /^[\w.-]+\/[\w.:-]+$/.test(text)
    ? text
    : quotedText(truncate(text, MAX_OBJECT_NAME_LENGTH));
}
