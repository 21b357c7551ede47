/** Fields that stand twice in a body: the last counts, and a client is told. */
import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import { isObject, type Json } from '../json.ts';

/** The paths of the fields of a text of JSON that stand again, as often as they do; `value` is what it says. */
export function duplicateFields(text: string, value: Json): string[] {
  return keysIn(text) === keysOf(value) ? [] : within(parseDocument(text, { uniqueKeys: false }).contents, '');
}

/** A text of JSON has a key wherever a string is before a colon. */
const keysIn = (text: string): number =>
  [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(?<colon>:)?/g)].filter(({ groups }) => groups?.colon !== undefined).length;

function keysOf(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each: Json) => sum + keysOf(each), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + 1 + keysOf(each), 0);
}

function within(node: unknown, path: string): string[] {
  if (isSeq<Node>(node)) return node.items.flatMap((item, index) => within(item, `${path}[${index}]`));
  if (!isMap(node)) return [];
  const seen = new Set<string>();
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : '';
    const at = path === '' ? name : `${path}.${name}`;
    const isRepeated = seen.has(name);
    seen.add(name);
    return [...(isRepeated ? [at] : []), ...within(value, at)];
  });
}
