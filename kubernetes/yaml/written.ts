/** Remembers how scalars were written in YAML, so that a message about a value's type can quote the text that it stood for. */
import { beginningOf } from '../../base/shortText.ts';

/** A scalar in a file. Lines and columns count from 1. */
interface Written {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** Keyed by the list or mapping that holds the scalar. Entries disappear with it. */
const scalars = new WeakMap<object, Map<PropertyKey, Written>>();

/** Records how the scalar at `key` of `parent` was written. */
export function recordWritten(parent: object, key: PropertyKey, written: Written): void {
  let fields = scalars.get(parent);
  if (fields === undefined) {
    fields = new Map();
    scalars.set(parent, fields);
  }
  fields.set(key, written);
}

/** Returns how the scalar at a path of `value` was written. Undefined if no scalar of a YAML file stands there. */
export function writtenAt(value: unknown, path: readonly PropertyKey[]): Written | undefined {
  let parent = value;
  for (const key of path.slice(0, -1)) {
    parent = typeof parent === 'object' && parent !== null ? Reflect.get(parent, key) : undefined;
  }
  const key = path.at(-1);
  if (typeof parent !== 'object' || parent === null || key === undefined) return undefined;
  return scalars.get(parent)?.get(key);
}

const LONGEST_TEXT = 60;

/** Explains why a scalar that was written without quotation marks is no string. */
export function quotingHint({ text, line }: Written, isSecret = false): string {
  if (isSecret) return ` (line ${line}; quote the value if it is text)`;
  const shown = beginningOf(text, LONGEST_TEXT);
  return ` (${shown} at line ${line}; write "${shown}" if it is text)`;
}
