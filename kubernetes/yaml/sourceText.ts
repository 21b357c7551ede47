/** Records the source text of YAML scalars, so that a message about the type of a value can quote it. */
import { truncate } from '../../base/text/shortText.ts';

/** Source text of a scalar and its position in a file. Lines and columns are counted from 1. */
interface SourceText {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Source texts of scalars by the list or mapping that contains them. The weak keys release the texts together with that
 * list or mapping.
 */
const sourceTexts = new WeakMap<object, Map<PropertyKey, SourceText>>();

export function recordSourceText(parent: object, key: PropertyKey, source: SourceText): void {
  let fields = sourceTexts.get(parent);
  if (fields === undefined) {
    fields = new Map();
    sourceTexts.set(parent, fields);
  }
  fields.set(key, source);
}

/** Returns the source text of the scalar at a path of `value`, or undefined if the value is not from YAML. */
export function sourceTextAt(value: unknown, path: readonly PropertyKey[]): SourceText | undefined {
  let parent = value;
  for (const key of path.slice(0, -1)) {
    parent = typeof parent === 'object' && parent !== null ? Reflect.get(parent, key) : undefined;
  }
  const key = path.at(-1);
  if (typeof parent !== 'object' || parent === null || key === undefined) return undefined;
  return sourceTexts.get(parent)?.get(key);
}

const MAX_TEXT_LENGTH = 60;

/** Returns a suggestion to quote a scalar that was parsed as something other than a string. */
export function quotingHint({ text, line }: SourceText, isSecret = false): string {
  if (isSecret) return ` (line ${line}; quote the value if it is text)`;
  const excerpt = truncate(text, MAX_TEXT_LENGTH);
  return ` (${excerpt} at line ${line}; write "${excerpt}" if it is text)`;
}
