/**
 * Rules for names, labels and keys (`api/validate/content` and `util/validation` of apimachinery). Each function
 * returns one message per violated rule.
 */

const LABEL_PATTERN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_PATTERN = `${LABEL_PATTERN}(\\.${LABEL_PATTERN})*`;
const KEY_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const KEY_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const MAX_LABEL_LENGTH = 63;
const MAX_SUBDOMAIN_LENGTH = 253;

const matchesPattern = (value: string, pattern: string): boolean => new RegExp(`^(?:${pattern})$`).test(value);

/** Formats a rule with examples, like apimachinery's `RegexError`. */
function withExamples(rule: string, pattern: string, examples: readonly string[]): string {
  const quotedExamples = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${quotedExamples}regex used for validation is '${pattern}')`;
}

/** Unit of a length in messages. Kubernetes always counts bytes but calls them characters for names. */
type Unit = 'bytes' | 'characters';

const lengthProblems = (value: string, maxLength: number, unit: Unit): string[] =>
  byteLength(value) > maxLength ? [`must be no more than ${maxLength} ${unit}`] : [];

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

export function dnsLabelProblems(value: string): string[] {
  const lengthProblem = lengthProblems(value, MAX_LABEL_LENGTH, 'characters');
  if (matchesPattern(value, LABEL_PATTERN)) return lengthProblem;
  const rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'";
  const completeRule = `${rule}, and must start and end with an alphanumeric character`;
  const reason = matchesPattern(value, SUBDOMAIN_PATTERN)
    ? 'must not contain dots'
    : withExamples(completeRule, LABEL_PATTERN, ['my-name', '123-abc']);
  return [...lengthProblem, reason];
}

export function dnsSubdomainProblems(value: string, unit: Unit = 'characters'): string[] {
  const lengthProblem = lengthProblems(value, MAX_SUBDOMAIN_LENGTH, unit);
  if (matchesPattern(value, SUBDOMAIN_PATTERN)) return lengthProblem;
  const rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";
  const completeRule = `${rule}, and must start and end with an alphanumeric character`;
  return [...lengthProblem, withExamples(completeRule, SUBDOMAIN_PATTERN, ['example.com'])];
}

const KEY_EXAMPLES = ['MyName', 'my.name', '123-abc'] as const;

/** Checks the key of a label, an annotation or a finalizer, with an optional domain prefix. */
export function labelKeyProblems(value: string): string[] {
  const [first = '', second, ...more] = value.split('/');
  if (more.length > 0)
    return [
      `a valid label key ${withExamples(KEY_RULE, KEY_PATTERN, KEY_EXAMPLES)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = second ?? first;
  return [...(second === undefined ? [] : prefixProblems(first)), ...nameProblems(name)];
}

const prefixProblems = (prefix: string): string[] =>
  (prefix === '' ? ['must be non-empty'] : dnsSubdomainProblems(prefix, 'bytes')).map((why) => `prefix part ${why}`);

function nameProblems(name: string): string[] {
  const lengthProblem = name === '' ? ['must be non-empty'] : lengthProblems(name, MAX_LABEL_LENGTH, 'bytes');
  const patternProblem = matchesPattern(name, KEY_PATTERN) ? [] : [withExamples(KEY_RULE, KEY_PATTERN, KEY_EXAMPLES)];
  return [...lengthProblem, ...patternProblem].map((why) => `name part ${why}`);
}

export function labelValueProblems(value: string): string[] {
  const pattern = `(${KEY_PATTERN})?`;
  const rule = `a valid label must be an empty string or ${KEY_RULE.replace('must consist', 'consist')}`;
  const patternProblem = matchesPattern(value, pattern)
    ? []
    : [withExamples(rule, pattern, ['MyValue', 'my_value', '12345'])];
  return [...lengthProblems(value, MAX_LABEL_LENGTH, 'bytes'), ...patternProblem];
}

/** Checks a key in the data of a ConfigMap or Secret. */
export function configKeyProblems(value: string): string[] {
  const pattern = '[-._a-zA-Z0-9]+';
  const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  const patternProblem = matchesPattern(value, pattern)
    ? []
    : [withExamples(rule, pattern, ['key.name', 'KEY_NAME', 'key-name'])];
  const lengthProblem = lengthProblems(value, MAX_SUBDOMAIN_LENGTH, 'characters');
  if (value === '.') return [...lengthProblem, ...patternProblem, `must not be '.'`];
  if (value === '..') return [...lengthProblem, ...patternProblem, `must not be '..'`];
  return [...lengthProblem, ...patternProblem, ...(value.startsWith('..') ? [`must not start with '..'`] : [])];
}

/**
 * Checks a search domain of a resolver. Unlike in other domains, a label may contain underscores and start with one.
 */
export function underscoreSubdomainProblems(value: string): string[] {
  const lengthProblem = lengthProblems(value, MAX_SUBDOMAIN_LENGTH, 'characters');
  const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
  const pattern = `${label}(\\.${label})*`;
  if (matchesPattern(value, pattern)) return lengthProblem;
  const rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.'";
  const completeRule = `${rule}, and must start and end with an alphanumeric character`;
  return [...lengthProblem, withExamples(completeRule, pattern, ['example.com'])];
}

/**
 * Replaces a trailing dash in the prefix of a generated name before the prefix is checked. The dash is valid because
 * more characters follow in the generated name.
 */
export const maskTrailingDash = (value: string): string =>
  value.length > 1 && value.endsWith('-') ? `${value.slice(0, -2)}a` : value;

const MAX_PORT_NAME_LENGTH = 15;

/** Checks the name of a port (`IsValidPortName`). */
export function portNameProblems(value: string): string[] {
  return [
    ...lengthProblems(value, MAX_PORT_NAME_LENGTH, 'characters'),
    ...(matchesPattern(value, '[-a-z0-9]+')
      ? []
      : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(value) ? [] : ['must contain at least one letter (a-z)']),
    ...(value.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(value.startsWith('-') || value.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
  ];
}

/** Checks the name of an environment variable (`IsRelaxedEnvVarName`). */
export function variableNameProblems(value: string): string[] {
  const rule = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return [
    ...(value === '' ? ['environment variable name must be non-empty'] : []),
    ...(/[^ -~]|=/.test(value) ? [rule] : []),
  ];
}

/** Checks the name of an HTTP header (`IsHTTPHeaderName`). */
export function headerNameProblems(value: string): string[] {
  const pattern = '[-A-Za-z0-9]+';
  const rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
  return matchesPattern(value, pattern) ? [] : [withExamples(rule, pattern, ['X-Header-Name'])];
}
