/**
 * Keeps what may be secret in a pod out of what is written down: the values of environment variables and of HTTP headers.
 * In their place stands a digest under a key that nobody keeps: equal values are seen to be equal, and a change to be one.
 */
import { createHmac, randomBytes } from 'node:crypto';

export type Redact = <T>(value: T) => T;

/** The fields whose items are a name and a value that may be secret. */
const NAMED_VALUES = ['env', 'httpHeaders'];
/** Under which kubectl keeps the whole manifest. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** What it is given is left as it is; of what holds nothing secret nothing is copied. */
export function createRedaction(key: Buffer = randomBytes(32)): Redact {
  const digest = (text: string) =>
    text === '' ? text : `redacted-${createHmac('sha256', key).update(text).digest('hex').slice(0, 16)}`;
  const redactField = (name: string, value: unknown): unknown => {
    if (name === LAST_APPLIED && typeof value === 'string') return digest(value);
    if (name === 'preStop' && typeof value === 'string') return redactText(value);
    if (!NAMED_VALUES.includes(name) || !Array.isArray(value)) return redact(value);
    return value.map((item: unknown) =>
      isObject(item) && typeof item.value === 'string' ? { ...item, value: digest(item.value) } : redact(item),
    );
  };
  /** A hook as it was noted at the runtime. */
  const redactText = (text: string): string => {
    try {
      const read: unknown = JSON.parse(text);
      const redacted = redact(read);
      return redacted === read ? text : JSON.stringify(redacted);
    } catch {
      return digest(text);
    }
  };
  const redact = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([name, each]) => [name, each, redactField(name, each)] as const);
    if (entries.every(([, before, after]) => before === after)) return value;
    if (Array.isArray(value)) return entries.map(([, , after]) => after);
    return Object.fromEntries(entries.map(([name, , after]) => [name, after]));
  };
  // Only texts are replaced, by texts.
  return redact as Redact;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
