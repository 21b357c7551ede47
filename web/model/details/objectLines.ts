/** Formats objects as YAML-like lines, and marks redacted values in any text. */
import { HELD_BACK } from '../../../inspect/protocol.ts';

/** A part of some text, which is either plain or a redacted value. */
export interface TextPart {
  readonly text: string;
  readonly isRedacted: boolean;
}

/** A line of a formatted object. */
export interface ObjectLine {
  /** Text before the key, including `- ` on the first line of a list item. */
  readonly indent: string;
  /** The key, without the colon. Empty if the line has no key. */
  readonly key: string;
  readonly value: readonly TextPart[];
}

/** Splits text into plain and redacted parts. */
export function splitRedacted(text: string): TextPart[] {
  const textParts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(HELD_BACK)) {
    textParts.push({ text: text.slice(from, match.index), isRedacted: false }, { text: match[0], isRedacted: true });
    from = match.index + match[0].length;
  }
  textParts.push({ text: text.slice(from), isRedacted: false });
  return textParts.filter((each) => each.text !== '');
}

/** YAML notation of empty collections. */
const EMPTY_VALUES = { list: '[]', map: '{}' } as const;

/** Returns the lines of a formatted object. Undefined values are omitted. */
export function objectLines(value: unknown, indent = ''): ObjectLine[] {
  if (Array.isArray(value)) return value.flatMap((each) => itemLines(each, indent));
  if (typeof value !== 'object' || value === null)
    return scalarLines('', value, { indent, continuationIndent: indent });
  return Object.entries(value).flatMap(([key, each]) => entryLines(key, each, indent));
}

/** Returns the lines of a list item. The first line has a leading dash. */
function itemLines(item: unknown, indent: string): ObjectLine[] {
  const childLines = isEmpty(item)
    ? scalarLines('', item, { indent: '', continuationIndent: '' })
    : objectLines(item, '');
  return childLines.map((line, index) => ({ ...line, indent: `${indent}${index === 0 ? '- ' : '  '}${line.indent}` }));
}

function entryLines(key: string, value: unknown, indent: string): ObjectLine[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || isEmpty(value)) {
    return scalarLines(key, value, { indent, continuationIndent: `${indent}  ` });
  }
  return [{ indent, key, value: [] }, ...objectLines(value, `${indent}  `)];
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

interface Indents {
  readonly indent: string;
  readonly continuationIndent: string;
}

function scalarLines(key: string, value: unknown, { indent, continuationIndent }: Indents): ObjectLine[] {
  const scalarValueText = scalarText(value);
  if (!scalarValueText.includes('\n')) return [{ indent, key, value: splitRedacted(scalarValueText) }];
  const textLines = scalarValueText.replace(/\n$/, '').split('\n');
  return [
    { indent, key, value: splitRedacted('|') },
    ...textLines.map((line) => ({ indent: continuationIndent, key: '', value: splitRedacted(line) })),
  ];
}

function scalarText(value: unknown): string {
  if (Array.isArray(value)) return EMPTY_VALUES.list;
  if (typeof value === 'object' && value !== null) return EMPTY_VALUES.map;
  if (typeof value !== 'string') return String(value);
  // Quote strings that YAML would interpret as a value of a different type.
  return /^$|^[\s\-?:,[\]{}#&*!|>'"%@`~]|: |^(true|false|null|yes|no|on|off)$|^[\d.+-]+$/i.test(value) &&
    !value.includes('\n')
    ? JSON.stringify(value)
    : value;
}
