/** Parses label selectors in the syntax of kubectl's `-l`: `app=web,tier!=cache,env in (a,b),!legacy`. */
import { lookUp } from '../../../base/values/lookUp.ts';
import type { ReadSelector } from './readSelector.ts';

type Labels = Readonly<Record<string, string>> | undefined;
type Requirement = (labels: Labels) => boolean;

interface Token {
  readonly text: string;
  readonly isWord: boolean;
}

const TOKEN_PATTERN = /(==|!=|[=!<>(),])|([^=!<>(),\s]+)/g;
const NAME_PATTERN = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const PREFIX_PATTERN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME_LENGTH = 63;
const MAX_PREFIX_LENGTH = 253;
const NAME_RULE = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
const OPERATORS = ['in', 'notin', '=', '==', '!=', '>', '<'];

/** A syntax error in a selector, which is always caught in this file. */
class SelectorSyntaxError extends Error {}

/** Parses a label selector. Parsing and matching follow k8s.io/apimachinery/pkg/labels/selector.go. */
export function readLabelSelector(text: string): ReadSelector<Labels> {
  try {
    const requirements = new SelectorParser(text).requirements();
    return { matches: (labels) => requirements.every((isFulfilled) => isFulfilled(labels)) };
  } catch (error) {
    if (error instanceof SelectorSyntaxError) return { problem: error.message };
    throw error;
  }
}

class SelectorParser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(TOKEN_PATTERN)].map(([token, , word]) => ({
      text: token,
      isWord: word !== undefined,
    }));
  }

  requirements(): Requirement[] {
    const requirements: Requirement[] = [];
    while (this.#nextToken !== undefined) {
      if (requirements.length > 0) this.#expectToken([','], "',' or the end");
      requirements.push(this.#readRequirement());
    }
    return requirements;
  }

  get #nextToken(): Token | undefined {
    return this.#tokens[this.#position];
  }

  #takeToken(): Token | undefined {
    const token = this.#nextToken;
    this.#position += 1;
    return token;
  }

  #expectToken(texts: readonly string[], expected: string): string {
    const token = this.#takeToken();
    if (token !== undefined && texts.includes(token.text)) return token.text;
    throw new SelectorSyntaxError(`found '${token?.text ?? ''}' expected: ${expected}`);
  }

  #readWord(): string {
    const token = this.#takeToken();
    if (token?.isWord) return token.text;
    throw new SelectorSyntaxError(`found '${token?.text ?? ''}' expected: a label key`);
  }

  get #isAtEnd(): boolean {
    return this.#nextToken === undefined || this.#nextToken.text === ',';
  }

  #readRequirement(): Requirement {
    const isAbsent = this.#nextToken?.text === '!';
    if (isAbsent) this.#takeToken();
    const key = requireValidKey(this.#readWord());
    if (this.#isAtEnd) return (labels) => (lookUp(labels, key) === undefined) === isAbsent;
    if (isAbsent) this.#expectToken([','], "',' or the end");
    const operator = this.#expectToken(OPERATORS, OPERATORS.join(', '));
    if (operator === '>' || operator === '<') return createComparison(key, operator, this.#readValue());
    const values = operator === 'in' || operator === 'notin' ? this.#readValues() : [this.#readValue()];
    const isNegative = operator === 'notin' || operator === '!=';
    return (labels) => {
      const value = lookUp(labels, key);
      return (value !== undefined && values.includes(value)) !== isNegative;
    };
  }

  /** Returns the next value, or an empty string if there is none. */
  #readValue(): string {
    if (this.#isAtEnd) return '';
    const token = this.#takeToken();
    if (token?.isWord) return requireValidValue(token.text);
    throw new SelectorSyntaxError(`found '${token?.text ?? ''}' expected: a value`);
  }

  #readValues(): string[] {
    this.#expectToken(['('], "'('");
    const values: string[] = [];
    for (;;) {
      values.push(this.#nextToken?.isWord ? requireValidValue(this.#readWord()) : '');
      if (this.#expectToken([',', ')'], "',' or ')'") === ')') return values;
    }
  }
}

function requireValidKey(key: string): string {
  const keyParts = key.split('/');
  const name = keyParts.at(-1) ?? '';
  const prefix = keyParts.length > 1 ? keyParts[0] : undefined;
  if (keyParts.length > 2) throw new SelectorSyntaxError(`'${key}': expected a label key, NAME or PREFIX/NAME`);
  if (name.length > MAX_NAME_LENGTH || !NAME_PATTERN.test(name))
    throw new SelectorSyntaxError(`'${key}': expected a label key, whose name has ${NAME_RULE}`);
  if (prefix !== undefined && (prefix.length > MAX_PREFIX_LENGTH || !PREFIX_PATTERN.test(prefix)))
    throw new SelectorSyntaxError(`'${key}': expected a label key, whose prefix is a lowercase DNS name`);
  return key;
}

function requireValidValue(value: string): string {
  if (value.length <= MAX_NAME_LENGTH && NAME_PATTERN.test(value)) return value;
  throw new SelectorSyntaxError(`'${value}': expected a label value: empty, or ${NAME_RULE}`);
}

const INTEGER_PATTERN = /^[+-]?\d+$/;

function createComparison(key: string, operator: '>' | '<', value: string): Requirement {
  if (!INTEGER_PATTERN.test(value))
    throw new SelectorSyntaxError(`'${value}': expected a whole number to compare with by ${operator}`);
  const limit = BigInt(value.replace('+', ''));
  return (labels) => {
    const labelValue = lookUp(labels, key);
    if (labelValue === undefined || !INTEGER_PATTERN.test(labelValue)) return false;
    const labelNumber = BigInt(labelValue.replace('+', ''));
    return operator === '>' ? labelNumber > limit : labelNumber < limit;
  };
}
