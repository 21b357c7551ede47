/** Parses field selectors in kubectl's syntax: `status.phase=Running,metadata.name!=web`. */
import type { ReadSelector } from './readSelector.ts';

/** Selectable fields of a kind. Each has a function that returns its value as a string. */
export type SelectableFields<Selected> = ReadonlyMap<string, (selected: Selected) => string>;

interface SelectorTerm {
  readonly field: string;
  readonly value: string;
  readonly isEqual: boolean;
}

/** Matches one requirement in a comma-separated list. A comma after a backslash is part of the value. */
const REQUIREMENT_PATTERN = /(?:\\[\s\S]|[^,\\]|\\$)+/g;
/** Splits a requirement at its first operator. Field names have no escape sequences. */
const TERM_PATTERN = /^(?<field>[\s\S]*?)(?<operator>!=|==|=)(?<value>[\s\S]*)$/;

/**
 * Parses a field selector according to the grammar of k8s.io/apimachinery/pkg/fields/selector.go. `describeUnknown`
 * returns the message about an unsupported field.
 */
export function readFieldSelector<Selected>(
  text: string,
  fields: SelectableFields<Selected>,
  describeUnknown = (field: string) =>
    `field label not supported: ${field}; there are ${[...fields.keys()].join(', ')}`,
): ReadSelector<Selected> {
  const requirements: ((selected: Selected) => boolean)[] = [];
  for (const part of text.match(REQUIREMENT_PATTERN) ?? []) {
    const term = readTerm(part);
    if (typeof term === 'string') return { problem: `invalid selector: '${text}'; ${term}` };
    const readField = fields.get(term.field);
    if (readField === undefined) return { problem: describeUnknown(term.field) };
    requirements.push((selected) => (readField(selected) === term.value) === term.isEqual);
  }
  return { matches: (selected) => requirements.every((isFulfilled) => isFulfilled(selected)) };
}

/** Parses one requirement. Returns an error message if it is invalid. */
function readTerm(part: string): SelectorTerm | string {
  const { field = '', operator, value = '' } = TERM_PATTERN.exec(part)?.groups ?? {};
  if (operator === undefined) return `can't understand '${part}'`;
  for (const [sequence, escaped] of value.matchAll(/\\([\s\S]?)|=/g)) {
    if (sequence === '=') return "unescaped character in value: '='";
    if (!['\\', ',', '='].includes(escaped ?? '')) return `invalid escape sequence: ${sequence}`;
  }
  return { field, value: value.replaceAll(/\\([\\,=])/g, '$1'), isEqual: operator !== '!=' };
}
