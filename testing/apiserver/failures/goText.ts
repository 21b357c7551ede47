/** Formats a value like Go's `%v`, which some messages of the kube-apiserver use. */
import { isList, isObject, type Json } from '../json.ts';

export function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (isList(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `map[${fields.map(([name, each]) => `${name}:${goText(each)}`).join(' ')}]`;
}
