/** Field selectors as kubectl takes them: `status.phase=Running,metadata.name!=web`. */
import type { ReadSelector } from './readSelector.ts';

/** The fields of a kind that can be selected by, each with the text that it is compared as. */
export type SelectableFields<Selected> = ReadonlyMap<string, (selected: Selected) => string>;

interface Term {
  readonly field: string;
  readonly value: string;
  readonly isEqual: boolean;
}

/** A part between commas, of which those after a backslash are part of a value. */
const PARTS = /(?:\\[\s\S]|[^,\\]|\\$)+/g;
/** Of several operators the first counts; nothing in the name of a field is escaped. */
const TERM = /^(?<field>[\s\S]*?)(?<operator>!=|==|=)(?<value>[\s\S]*)$/;

/** The grammar: k8s.io/apimachinery/pkg/fields/selector.go; `unknown` says what is wrong with a field that there is not. */
export function readFieldSelector<Selected>(
  text: string,
  fields: SelectableFields<Selected>,
  unknown = (field: string) => `field label not supported: ${field}; there are ${[...fields.keys()].join(', ')}`,
): ReadSelector<Selected> {
  const requirements: ((selected: Selected) => boolean)[] = [];
  for (const part of text.match(PARTS) ?? []) {
    const term = readTerm(part);
    if (typeof term === 'string') return { problem: `invalid selector: '${text}'; ${term}` };
    const read = fields.get(term.field);
    if (read === undefined) return { problem: unknown(term.field) };
    requirements.push((selected) => (read(selected) === term.value) === term.isEqual);
  }
  return { matches: (selected) => requirements.every((holds) => holds(selected)) };
}

/** A sentence where it is none. */
function readTerm(part: string): Term | string {
  const { field = '', operator, value = '' } = TERM.exec(part)?.groups ?? {};
  if (operator === undefined) return `can't understand '${part}'`;
  for (const [step, escaped] of value.matchAll(/\\([\s\S]?)|=/g)) {
    if (step === '=') return "unescaped character in value: '='";
    if (!['\\', ',', '='].includes(escaped ?? '')) return `invalid escape sequence: ${step}`;
  }
  return { field, value: value.replaceAll(/\\([\\,=])/g, '$1'), isEqual: operator !== '!=' };
}
