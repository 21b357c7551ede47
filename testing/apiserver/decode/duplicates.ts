/** Detects duplicate fields in a body. The last one counts, and the client is warned. */
import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import { isObject, type Json } from '../json.ts';

/** Returns the path of each repeated occurrence of a field in JSON text. `value` is the parsed text. */
export function duplicateFields(text: string, value: Json): string[] {
  return countKeysInText(text) === countKeys(value)
    ? []
    : duplicatesIn(parseDocument(text, { uniqueKeys: false }).contents, '');
}

/** In JSON text, each string before a colon is a key. */
const countKeysInText = (text: string): number =>
  [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(?<colon>:)?/g)].filter(({ groups }) => groups?.colon !== undefined).length;

function countKeys(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each: Json) => sum + countKeys(each), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + 1 + countKeys(each), 0);
}

function duplicatesIn(node: unknown, path: string): string[] {
  if (isSeq<Node>(node)) return node.items.flatMap((item, index) => duplicatesIn(item, `${path}[${index}]`));
  if (!isMap(node)) return [];
  const seen = new Set<string>();
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : '';
    const at = path === '' ? name : `${path}.${name}`;
    const isRepeated = seen.has(name);
    seen.add(name);
    return [...(isRepeated ? [at] : []), ...duplicatesIn(value, at)];
  });
}
