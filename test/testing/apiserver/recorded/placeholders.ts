/**
 * Placeholders in recorded requests and responses for values that differ in each run. `<uid:1>` has the same value
 * everywhere in a scene.
 */
import { isList, isObject, type Json } from '../../../../testing/apiserver/json.ts';

const FORMS: Readonly<Record<string, string>> = {
  uid: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  rv: '\\d+',
  rand: '[a-z0-9]{5}',
  ip: '10(?:\\.\\d+){3}',
  port: '\\d{5}',
  token: '[\\w=-]+(?:\\.[\\w=-]+){2}',
  continue: '[\\w=-]+',
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z',
  age: '<invalid>|<unknown>|(?:\\d+(?:ms|[smhdy]))+',
  any: '[\\s\\S]*',
  unix: '\\d+',
};
const PLACEHOLDER =
  /<(?<kind>uid|rv|rand|ip|port|token|continue|time|age|any|unix)(?::(?<number>\d+)|(?<offset>[+-]\d+))?>/g;
const NOW = /<now(?<offset>[+-]\d+)?>/g;
const TOLERANCE_S = 4;
const SECOND_MS = 1000;

/** The values of the placeholders in a scene so far. */
export class Bindings {
  readonly #values = new Map<string, string>();
  readonly #placeholders = new Map<string, string>();

  /**
   * Binds a placeholder to a value. Returns false if the placeholder already has a different value, or the value a
   * different placeholder.
   */
  bind(placeholder: string, kind: string, value: string): boolean {
    const had = this.#values.get(placeholder);
    if (had !== undefined) return had === value;
    const back = `${kind} ${value}`;
    if (this.#placeholders.has(back)) return false;
    this.set(placeholder, kind, value);
    return true;
  }

  set(placeholder: string, kind: string, value: string): void {
    this.#values.set(placeholder, value);
    this.#placeholders.set(`${kind} ${value}`, placeholder);
  }

  /** Returns a value of a request with its placeholders replaced. */
  fill<T extends Json>(value: T, now: number): T;
  fill(value: Json, now: number): Json {
    if (typeof value === 'string') return this.#filled(value, now);
    if (isList(value)) return value.map((each) => this.fill(each, now));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [this.#filled(key, now), this.fill(each, now)]),
    );
  }

  #filled(text: string, now: number): string {
    const at = (offset = '0') => new Date(now + Number(offset) * SECOND_MS).toISOString().replace(/\.\d+Z/, 'Z');
    return text
      .replaceAll(NOW, (_whole, offset?: string) => at(offset))
      .replaceAll(PLACEHOLDER, (whole) => this.#values.get(whole) ?? whole);
  }

  /** Whether a text matches the recorded one. `now` is the time of the response, in milliseconds since the epoch. */
  matches(expected: string, actual: string, now: number): boolean {
    const slots = [...expected.matchAll(PLACEHOLDER)];
    let form = '';
    let at = 0;
    for (const slot of slots) {
      form += `${escaped(expected.slice(at, slot.index))}(${FORMS[slot[1] ?? ''] ?? ''})`;
      at = slot.index + slot[0].length;
    }
    const found = new RegExp(`^${form}${escaped(expected.slice(at))}$`).exec(actual);
    return found !== null && slots.every((slot, index) => this.#fits(slot, found[index + 1] ?? '', now));
  }

  #fits([whole, kind = '']: RegExpExecArray, value: string, now: number): boolean {
    const { offset, number } = [...whole.matchAll(PLACEHOLDER)][0]?.groups ?? {};
    if (offset !== undefined) {
      const at = kind === 'time' ? Date.parse(value) / SECOND_MS : Number(value);
      return Math.abs(at - now / SECOND_MS - Number(offset)) <= TOLERANCE_S;
    }
    return number === undefined || this.bind(whole, kind, value);
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
