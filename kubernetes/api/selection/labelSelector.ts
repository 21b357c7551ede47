/** Parses label selectors in the syntax of kubectl's `-l`: `app=web,tier!=cache,env in (a,b),!legacy`. */
import { lookUp } from '../../../base/lookUp.ts';
import type { ReadSelector } from './readSelector.ts';

type Labels = Readonly<Record<string, string>> | undefined;
type Requirement = (labels: Labels) => boolean;

interface Token {
  readonly text: string;
  readonly isWord: boolean;
}

const TOKEN = /(==|!=|[=!<>(),])|([^=!<>(),\s]+)/g;
const NAME = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const PREFIX = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME_LENGTH = 63;
const MAX_PREFIX_LENGTH = 253;
const NAME_RULE = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
const OPERATORS = ['in', 'notin', '=', '==', '!=', '>', '<'];

/** A syntax error in a selector. Only used within this file. */
class SelectorSyntaxError extends Error {}

/** Parses a label selector. Parsing and matching follow k8s.io/apimachinery/pkg/labels/selector.go. */
export function readLabelSelector(text: string): ReadSelector<Labels> {
  try {
    const requirements = new Parser(text).requirements();
    return { matches: (labels) => requirements.every((isFulfilled) => isFulfilled(labels)) };
  } catch (error) {
    if (error instanceof SelectorSyntaxError) return { problem: error.message };
    throw error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(TOKEN)].map(([token, , word]) => ({ text: token, isWord: word !== undefined }));
  }

  requirements(): Requirement[] {
    const requirements: Requirement[] = [];
    while (this.#next !== undefined) {
      if (requirements.length > 0) this.#expect([','], "',' or the end");
      requirements.push(this.#requirement());
    }
    return requirements;
  }

  get #next(): Token | undefined {
    return this.#tokens[this.#position];
  }

  #take(): Token | undefined {
    const token = this.#next;
    this.#position += 1;
    return token;
  }

  #expect(texts: readonly string[], expected: string): string {
    const token = this.#take();
    if (token !== undefined && texts.includes(token.text)) return token.text;
    throw new SelectorSyntaxError(`found '${token?.text ?? ''}' expected: ${expected}`);
  }

  #word(): string {
    const token = this.#take();
    if (token?.isWord) return token.text;
    throw new SelectorSyntaxError(`found '${token?.text ?? ''}' expected: a label key`);
  }

  get #isAtEnd(): boolean {
    return this.#next === undefined || this.#next.text === ',';
  }

  #requirement(): Requirement {
    const isAbsent = this.#next?.text === '!';
    if (isAbsent) this.#take();
    const key = validKey(this.#word());
    if (this.#isAtEnd) return (labels) => (lookUp(labels, key) === undefined) === isAbsent;
    if (isAbsent) this.#expect([','], "',' or the end");
    const operator = this.#expect(OPERATORS, OPERATORS.join(', '));
    if (operator === '>' || operator === '<') return comparison(key, operator, this.#value());
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    const isNegative = operator === 'notin' || operator === '!=';
    return (labels) => {
      const value = lookUp(labels, key);
      return (value !== undefined && values.includes(value)) !== isNegative;
    };
  }

  /** Returns the next value, which is empty if none follows. */
  #value(): string {
    if (this.#isAtEnd) return '';
    const token = this.#take();
    if (token?.isWord) return validValue(token.text);
    throw new SelectorSyntaxError(`found '${token?.text ?? ''}' expected: a value`);
  }

  #values(): string[] {
    this.#expect(['('], "'('");
    const values: string[] = [];
    for (;;) {
      values.push(this.#next?.isWord ? validValue(this.#word()) : '');
      if (this.#expect([',', ')'], "',' or ')'") === ')') return values;
    }
  }
}

function validKey(key: string): string {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  const prefix = parts.length > 1 ? parts[0] : undefined;
  if (parts.length > 2) throw new SelectorSyntaxError(`'${key}': expected a label key, NAME or PREFIX/NAME`);
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name))
    throw new SelectorSyntaxError(`'${key}': expected a label key, whose name has ${NAME_RULE}`);
  if (prefix !== undefined && (prefix.length > MAX_PREFIX_LENGTH || !PREFIX.test(prefix)))
    throw new SelectorSyntaxError(`'${key}': expected a label key, whose prefix is a lowercase DNS name`);
  return key;
}

function validValue(value: string): string {
  if (value.length <= MAX_NAME_LENGTH && NAME.test(value)) return value;
  throw new SelectorSyntaxError(`'${value}': expected a label value: empty, or ${NAME_RULE}`);
}

const INTEGER = /^[+-]?\d+$/;

function comparison(key: string, operator: '>' | '<', value: string): Requirement {
  if (!INTEGER.test(value))
    throw new SelectorSyntaxError(`'${value}': expected a whole number to compare with by ${operator}`);
  const limit = BigInt(value.replace('+', ''));
  return (labels) => {
    const labelValue = lookUp(labels, key);
    if (labelValue === undefined || !INTEGER.test(labelValue)) return false;
    const labelNumber = BigInt(labelValue.replace('+', ''));
    return operator === '>' ? labelNumber > limit : labelNumber < limit;
  };
}
