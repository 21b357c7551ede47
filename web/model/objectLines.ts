/** Objects as text like YAML, and in any text what is held back. */
import { HELD_BACK } from '../../inspect/protocol.ts';

/** A part of a text: as it is, or held back. */
export interface TextPart {
  readonly text: string;
  readonly isHeldBack: boolean;
}

/** One line of an object. */
export interface ObjectLine {
  /** With what stands before the key: `- ` of the first line of an item. */
  readonly indent: string;
  /** Empty where there is none. */
  readonly key: string;
  readonly value: readonly TextPart[];
}

/** The parts of a text. */
export function heldParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const found of text.matchAll(HELD_BACK)) {
    parts.push({ text: text.slice(from, found.index), isHeldBack: false }, { text: found[0], isHeldBack: true });
    from = found.index + found[0].length;
  }
  parts.push({ text: text.slice(from), isHeldBack: false });
  return parts.filter((each) => each.text !== '');
}

/** What stands for nothing in YAML. */
const EMPTY = { list: '[]', map: '{}' } as const;

/** The lines of an object; what is undefined in it is left out. */
export function objectLines(value: unknown, indent = ''): ObjectLine[] {
  if (Array.isArray(value)) return value.flatMap((each) => itemLines(each, indent));
  if (typeof value !== 'object' || value === null) return scalarLines('', value, { indent, below: indent });
  return Object.entries(value).flatMap(([key, each]) => entryLines(key, each, indent));
}

/** The first line of an item begins with a dash. */
function itemLines(item: unknown, indent: string): ObjectLine[] {
  const lines = isEmpty(item) ? scalarLines('', item, { indent: '', below: '' }) : objectLines(item, '');
  return lines.map((line, index) => ({ ...line, indent: `${indent}${index === 0 ? '- ' : '  '}${line.indent}` }));
}

function entryLines(key: string, value: unknown, indent: string): ObjectLine[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || isEmpty(value)) {
    return scalarLines(key, value, { indent, below: `${indent}  ` });
  }
  return [{ indent, key, value: [] }, ...objectLines(value, `${indent}  `)];
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

interface Indents {
  readonly indent: string;
  readonly below: string;
}

function scalarLines(key: string, value: unknown, { indent, below }: Indents): ObjectLine[] {
  const text = scalarText(value);
  if (!text.includes('\n')) return [{ indent, key, value: heldParts(text) }];
  const lines = text.replace(/\n$/, '').split('\n');
  return [
    { indent, key, value: heldParts('|') },
    ...lines.map((line) => ({ indent: below, key: '', value: heldParts(line) })),
  ];
}

function scalarText(value: unknown): string {
  if (Array.isArray(value)) return EMPTY.list;
  if (typeof value === 'object' && value !== null) return EMPTY.map;
  if (typeof value !== 'string') return String(value);
  // What YAML would read as something else than this text.
  return /^$|^[\s\-?:,[\]{}#&*!|>'"%@`~]|: |^(true|false|null|yes|no|on|off)$|^[\d.+-]+$/i.test(value) &&
    !value.includes('\n')
    ? JSON.stringify(value)
    : value;
}
