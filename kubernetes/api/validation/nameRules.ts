/**
 * Rules for names, labels and keys (`api/validate/content` and `util/validation` of apimachinery). Each function returns
 * one sentence for each rule that a value breaks.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const KEY_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const LONGEST_LABEL = 63;
const LONGEST_SUBDOMAIN = 253;

const isLike = (value: string, form: string): boolean => new RegExp(`^(?:${form})$`).test(value);

/** A rule with examples, in the words of `RegexError`. */
function withExamples(rule: string, form: string, examples: readonly string[]): string {
  const each = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${each}regex used for validation is '${form}')`;
}

/** Kubernetes counts bytes, and calls them characters in names. */
type Unit = 'bytes' | 'characters';

const lengthOf = (value: string, most: number, unit: Unit): string[] =>
  byteLength(value) > most ? [`must be no more than ${most} ${unit}`] : [];

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

export function dnsLabel(value: string): string[] {
  const tooLong = lengthOf(value, LONGEST_LABEL, 'characters');
  if (isLike(value, LABEL)) return tooLong;
  const rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'";
  const whole = `${rule}, and must start and end with an alphanumeric character`;
  const why = isLike(value, SUBDOMAIN) ? 'must not contain dots' : withExamples(whole, LABEL, ['my-name', '123-abc']);
  return [...tooLong, why];
}

export function dnsSubdomain(value: string, unit: Unit = 'characters'): string[] {
  const tooLong = lengthOf(value, LONGEST_SUBDOMAIN, unit);
  if (isLike(value, SUBDOMAIN)) return tooLong;
  const rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";
  const whole = `${rule}, and must start and end with an alphanumeric character`;
  return [...tooLong, withExamples(whole, SUBDOMAIN, ['example.com'])];
}

const KEY_EXAMPLES = ['MyName', 'my.name', '123-abc'] as const;

/** The key of a label, an annotation or a finalizer, with or without a domain before it. */
export function labelKey(value: string): string[] {
  const [first = '', second, ...more] = value.split('/');
  if (more.length > 0)
    return [
      `a valid label key ${withExamples(KEY_RULE, KEY, KEY_EXAMPLES)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = second ?? first;
  return [...(second === undefined ? [] : prefixPart(first)), ...namePart(name)];
}

const prefixPart = (prefix: string): string[] =>
  (prefix === '' ? ['must be non-empty'] : dnsSubdomain(prefix, 'bytes')).map((why) => `prefix part ${why}`);

function namePart(name: string): string[] {
  const wrong = name === '' ? ['must be non-empty'] : lengthOf(name, LONGEST_LABEL, 'bytes');
  const unlike = isLike(name, KEY) ? [] : [withExamples(KEY_RULE, KEY, KEY_EXAMPLES)];
  return [...wrong, ...unlike].map((why) => `name part ${why}`);
}

export function labelValue(value: string): string[] {
  const form = `(${KEY})?`;
  const rule = `a valid label must be an empty string or ${KEY_RULE.replace('must consist', 'consist')}`;
  const unlike = isLike(value, form) ? [] : [withExamples(rule, form, ['MyValue', 'my_value', '12345'])];
  return [...lengthOf(value, LONGEST_LABEL, 'bytes'), ...unlike];
}

/** The key of an entry of a ConfigMap or a Secret. */
export function configKey(value: string): string[] {
  const form = '[-._a-zA-Z0-9]+';
  const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  const unlike = isLike(value, form) ? [] : [withExamples(rule, form, ['key.name', 'KEY_NAME', 'key-name'])];
  const tooLong = lengthOf(value, LONGEST_SUBDOMAIN, 'characters');
  if (value === '.') return [...tooLong, ...unlike, `must not be '.'`];
  if (value === '..') return [...tooLong, ...unlike, `must not be '..'`];
  return [...tooLong, ...unlike, ...(value.startsWith('..') ? [`must not start with '..'`] : [])];
}

/** A domain whose labels may begin with an underscore and contain some, as in the search list of a resolver. */
export function dnsSubdomainWithUnderscore(value: string): string[] {
  const tooLong = lengthOf(value, LONGEST_SUBDOMAIN, 'characters');
  const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
  const form = `${label}(\\.${label})*`;
  if (isLike(value, form)) return tooLong;
  const rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.'";
  const whole = `${rule}, and must start and end with an alphanumeric character`;
  return [...tooLong, withExamples(whole, form, ['example.com'])];
}

/** The beginning of a name to which more is appended: its last dash counts as part of a longer word. */
export const beginningOfName = (value: string): string =>
  value.length > 1 && value.endsWith('-') ? `${value.slice(0, -2)}a` : value;

const LONGEST_PORT_NAME = 15;

/** The name of a port (`IsValidPortName`). */
export function portName(value: string): string[] {
  return [
    ...lengthOf(value, LONGEST_PORT_NAME, 'characters'),
    ...(isLike(value, '[-a-z0-9]+') ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(value) ? [] : ['must contain at least one letter (a-z)']),
    ...(value.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(value.startsWith('-') || value.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
  ];
}

/** The name of a variable (`IsRelaxedEnvVarName`). */
export function variableName(value: string): string[] {
  const rule = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return [
    ...(value === '' ? ['environment variable name must be non-empty'] : []),
    ...(/[^ -~]|=/.test(value) ? [rule] : []),
  ];
}

/** The name of a header of HTTP (`IsHTTPHeaderName`). */
export function headerName(value: string): string[] {
  const form = '[-A-Za-z0-9]+';
  const rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
  return isLike(value, form) ? [] : [withExamples(rule, form, ['X-Header-Name'])];
}
