/** Label selectors as kubectl takes them with `-l`: `app=web,tier!=cache,env in (a,b),!legacy`. */
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
const LONGEST_NAME = 63;
const LONGEST_PREFIX = 253;
const NAME_RULE = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
const OPERATORS = ['in', 'notin', '=', '==', '!=', '>', '<'];

/** A mistake in a selector; it does not leave this file. */
class SelectorMistake extends Error {}

/** The grammar and what matches: k8s.io/apimachinery/pkg/labels/selector.go. */
export function readLabelSelector(text: string): ReadSelector<Labels> {
  try {
    const requirements = new Parser(text).requirements();
    return { matches: (labels) => requirements.every((holds) => holds(labels)) };
  } catch (error) {
    if (error instanceof SelectorMistake) return { problem: error.message };
    throw error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(TOKEN)].map(([token, , word]) => ({ text: token, isWord: word !== undefined }));
  }

  requirements(): Requirement[] {
    const found: Requirement[] = [];
    while (this.#next !== undefined) {
      if (found.length > 0) this.#expect([','], "',' or the end");
      found.push(this.#requirement());
    }
    return found;
  }

  get #next(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #take(): Token | undefined {
    const token = this.#next;
    this.#at += 1;
    return token;
  }

  #expect(texts: readonly string[], expected: string): string {
    const token = this.#take();
    if (token !== undefined && texts.includes(token.text)) return token.text;
    throw new SelectorMistake(`found '${token?.text ?? ''}' expected: ${expected}`);
  }

  #word(): string {
    const token = this.#take();
    if (token?.isWord) return token.text;
    throw new SelectorMistake(`found '${token?.text ?? ''}' expected: a label key`);
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
    if (operator === '>' || operator === '<') return compared(key, operator, this.#value());
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    const isNegative = operator === 'notin' || operator === '!=';
    return (labels) => {
      const value = lookUp(labels, key);
      return (value !== undefined && values.includes(value)) !== isNegative;
    };
  }

  /** None is the empty one. */
  #value(): string {
    if (this.#isAtEnd) return '';
    const token = this.#take();
    if (token?.isWord) return validValue(token.text);
    throw new SelectorMistake(`found '${token?.text ?? ''}' expected: a value`);
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
  if (parts.length > 2) throw new SelectorMistake(`'${key}': expected a label key, NAME or PREFIX/NAME`);
  if (name.length > LONGEST_NAME || !NAME.test(name))
    throw new SelectorMistake(`'${key}': expected a label key, whose name has ${NAME_RULE}`);
  if (prefix !== undefined && (prefix.length > LONGEST_PREFIX || !PREFIX.test(prefix)))
    throw new SelectorMistake(`'${key}': expected a label key, whose prefix is a lowercase DNS name`);
  return key;
}

function validValue(value: string): string {
  if (value.length <= LONGEST_NAME && NAME.test(value)) return value;
  throw new SelectorMistake(`'${value}': expected a label value: empty, or ${NAME_RULE}`);
}

const WHOLE = /^[+-]?\d+$/;

function compared(key: string, operator: '>' | '<', value: string): Requirement {
  if (!WHOLE.test(value))
    throw new SelectorMistake(`'${value}': expected a whole number to compare with by ${operator}`);
  const limit = BigInt(value.replace('+', ''));
  return (labels) => {
    const own = lookUp(labels, key);
    if (own === undefined || !WHOLE.test(own)) return false;
    const number = BigInt(own.replace('+', ''));
    return operator === '>' ? number > limit : number < limit;
  };
}
