/** What names and labels have to be like (`api/validate/content` of apimachinery): each answers what is wrong with it. */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const KEY_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const LONGEST_LABEL = 63;
const LONGEST_SUBDOMAIN = 253;

const isLike = (value: string, form: string): boolean => new RegExp(`^(?:${form})$`).test(value);

/** A rule with examples, as Kubernetes tells it. */
function told(rule: string, form: string, examples: readonly string[]): string {
  const each = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${each}regex used for validation is '${form}')`;
}

/** What Kubernetes counts, it calls characters in names and bytes in labels. */
type Unit = 'bytes' | 'characters';

const lengthOf = (value: string, most: number, unit: Unit): string[] =>
  byteLength(value) > most ? [`must be no more than ${most} ${unit}`] : [];

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

export function dnsLabel(value: string): string[] {
  const tooLong = lengthOf(value, LONGEST_LABEL, 'characters');
  if (isLike(value, LABEL)) return tooLong;
  const rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'";
  const whole = `${rule}, and must start and end with an alphanumeric character`;
  const why = isLike(value, SUBDOMAIN) ? 'must not contain dots' : told(whole, LABEL, ['my-name', '123-abc']);
  return [...tooLong, why];
}

export function dnsSubdomain(value: string, unit: Unit = 'characters'): string[] {
  const tooLong = lengthOf(value, LONGEST_SUBDOMAIN, unit);
  if (isLike(value, SUBDOMAIN)) return tooLong;
  const rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'";
  const whole = `${rule}, and must start and end with an alphanumeric character`;
  return [...tooLong, told(whole, SUBDOMAIN, ['example.com'])];
}

const KEY_EXAMPLES = ['MyName', 'my.name', '123-abc'] as const;

/** Of labels, annotations and finalizers: a name, after a domain if there is one. */
export function labelKey(value: string): string[] {
  const [first = '', second, ...more] = value.split('/');
  if (more.length > 0)
    return [
      `a valid label key ${told(KEY_RULE, KEY, KEY_EXAMPLES)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = second ?? first;
  return [...(second === undefined ? [] : prefixPart(first)), ...namePart(name)];
}

const prefixPart = (prefix: string): string[] =>
  (prefix === '' ? ['must be non-empty'] : dnsSubdomain(prefix, 'bytes')).map((why) => `prefix part ${why}`);

function namePart(name: string): string[] {
  const wrong = name === '' ? ['must be non-empty'] : lengthOf(name, LONGEST_LABEL, 'bytes');
  const unlike = isLike(name, KEY) ? [] : [told(KEY_RULE, KEY, KEY_EXAMPLES)];
  return [...wrong, ...unlike].map((why) => `name part ${why}`);
}

export function labelValue(value: string): string[] {
  const form = `(${KEY})?`;
  const rule = `a valid label must be an empty string or ${KEY_RULE.replace('must consist', 'consist')}`;
  const unlike = isLike(value, form) ? [] : [told(rule, form, ['MyValue', 'my_value', '12345'])];
  return [...lengthOf(value, LONGEST_LABEL, 'bytes'), ...unlike];
}

/** Of the entries of config maps and secrets. */
export function configKey(value: string): string[] {
  const form = '[-._a-zA-Z0-9]+';
  const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  const unlike = isLike(value, form) ? [] : [told(rule, form, ['key.name', 'KEY_NAME', 'key-name'])];
  const tooLong = lengthOf(value, LONGEST_SUBDOMAIN, 'characters');
  if (value === '.') return [...tooLong, ...unlike, `must not be '.'`];
  if (value === '..') return [...tooLong, ...unlike, `must not be '..'`];
  return [...tooLong, ...unlike, ...(value.startsWith('..') ? [`must not start with '..'`] : [])];
}
