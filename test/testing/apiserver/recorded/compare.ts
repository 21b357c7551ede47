/** Compares a response with the recorded one. */

import { lookUp } from '../../../../base/values/lookUp.ts';
import { isList, isObject, type Json, textAt } from '../../../../testing/apiserver/json.ts';
import type { Bindings } from './placeholders.ts';
import type { Vector } from './vector.ts';

/** A response. `at` is the time when it was received, in milliseconds since the epoch. */
export interface ReceivedResponse {
  readonly code: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly events?: readonly Json[];
  readonly ended?: boolean;
  readonly at: number;
}

const HEADERS = ['content-type', 'warning', 'retry-after', 'allow', 'location', 'www-authenticate'] as const;

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the differences between a response and the recorded one, each with its path. Empty if they match. */
export function differences(vector: Vector, received: ReceivedResponse, bound: Bindings): string[] {
  const expected = vector.response;
  if (expected === undefined) return ['nothing was recorded'];
  const code =
    expected.code === received.code
      ? []
      : [`code ${received.code}, not ${expected.code}: ${received.text.slice(0, 200)}`];
  return [...code, ...headerDifferences(vector, received, bound), ...bodyDifferences(vector, received, bound)];
}

function headerDifferences({ response }: Vector, { headers, at }: ReceivedResponse, bound: Bindings): string[] {
  return HEADERS.flatMap((name) => {
    const [expected, actual] = [response?.headers?.[name], headers.get(name)];
    const isSame =
      expected === undefined || actual === undefined ? expected === actual : bound.matches(expected, actual, at);
    return isSame ? [] : [`header ${name}: ${actual}, not ${expected}`];
  });
}

function bodyDifferences(vector: Vector, received: ReceivedResponse, bound: Bindings): string[] {
  const comparison = new Comparison(vector, bound, received.at);
  const { events, ended, body, text, claims } = vector.response ?? {};
  const differencesInBody: string[] = [];
  if (events !== undefined) {
    differencesInBody.push(...comparison.of([...events], [...(received.events ?? [])], '/events'));
    if (ended !== undefined && ended !== received.ended)
      differencesInBody.push(`the watch has ${received.ended ? '' : 'not '}ended`);
  } else if (body !== undefined) {
    differencesInBody.push(...comparison.of(body, parseJson(received.text), ''));
  } else if (text !== undefined && !bound.matches(text, received.text, received.at)) {
    differencesInBody.push(`text ${JSON.stringify(received.text)}, not ${JSON.stringify(text)}`);
  }
  return [
    ...differencesInBody,
    ...(claims === undefined || claims === null ? [] : comparison.of(claims, claimsIn(received.text), '/claims')),
  ];
}

function claimsIn(text: string): Json | undefined {
  const body = parseJson(text);
  const status = isObject(body) ? lookUp(body, 'status') : undefined;
  const [, payload = ''] = isObject(status) ? textAt(status, 'token').split('.') : [];
  return parseJson(Buffer.from(payload, 'base64url').toString());
}

class Comparison {
  readonly #vector: Vector;
  readonly #bound: Bindings;
  readonly #at: number;

  constructor(vector: Vector, bound: Bindings, at: number) {
    this.#vector = vector;
    this.#bound = bound;
    this.#at = at;
  }

  of(expected: Json, actual: Json | undefined, path: string): string[] {
    if (expected === '<any>' && actual !== undefined) return [];
    if (typeof expected === 'string' && (typeof actual === 'string' || typeof actual === 'number')) {
      const isSame = this.#bound.matches(expected, String(actual), this.#at);
      return isSame ? [] : [`${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
    }
    if (isList(expected) && isList(actual)) return this.#ofLists(expected, actual, path);
    if (isObject(expected) && isObject(actual)) return this.#ofObjects(expected, actual, path);
    return expected === actual ? [] : [`${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
  }

  #ofLists(expected: readonly Json[], actual: readonly Json[], path: string): string[] {
    const first = expected[0];
    if (this.#vector.subset && isObject(first) && Object.hasOwn(first, 'name')) {
      const entryNamed = (name: string) => actual.find((each) => isObject(each) && textAt(each, 'name') === name);
      return expected.filter(isObject).flatMap((each) => {
        const name = textAt(each, 'name');
        return this.of(each, entryNamed(name), `${path}/${name}`);
      });
    }
    if (expected.length !== actual.length) return [`${path}: ${actual.length} entries, not ${expected.length}`];
    return expected.flatMap((each, index) => this.of(each, actual[index], `${path}/${index}`));
  }

  #ofObjects(expected: Readonly<Record<string, Json>>, actual: Readonly<Record<string, Json>>, path: string): string[] {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) => {
      if (this.#isIgnored(key)) return [];
      const [own, other] = [lookUp(expected, key), lookUp(actual, key)];
      if (own === undefined) return [`${path}/${key}: not expected: ${JSON.stringify(other)}`];
      return this.of(own, other, `${path}/${key}`);
    });
  }

  #isIgnored(key: string): boolean {
    const { keepManagedFields, ignore } = this.#vector;
    return (key === 'managedFields' && !keepManagedFields) || (ignore?.includes(key) ?? false);
  }
}
