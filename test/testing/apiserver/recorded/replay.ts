/** Sends the recorded requests to a test API server, with a simulated clock. */

import { lookUp } from '../../../../base/values/lookUp.ts';
import { Api } from '../../../../testing/apiserver/api.ts';
import { isObject, type Json } from '../../../../testing/apiserver/json.ts';
import type { User } from '../../../../testing/apiserver/requests/request.ts';
import { Schedule } from '../../../../testing/simulation/run/schedule.ts';
import { differences, parseJson, type ReceivedResponse } from './compare.ts';
import { Bindings } from './placeholders.ts';
import type { Vector, VectorRequest } from './vector.ts';

const user = (name: string, uid: string, ...groups: readonly string[]): User => ({ name, uid, groups });

/** The users by bearer token. The token is the name of the user in the vectors. */
const USERS: ReadonlyMap<string, User> = new Map([
  ['admin', user('admin', 'admin', 'system:masters')],
  ['node', user('system:node:node1', 'node1', 'system:nodes')],
  ['node2', user('system:node:node2', 'node2', 'system:nodes')],
  ['user', user('alice', 'alice', 'developers')],
]);

const START = Date.parse('2026-01-01T00:00:00Z');
const STEP_MS = 25;
const LONGEST_MS = 15_000;

export class Replay {
  readonly #schedule = new Schedule(START);
  readonly #api = new Api({ clock: this.#schedule, tokens: USERS, address: '127.0.0.1:6443' });
  #scene = '';
  #bound = new Bindings();

  /**
   * Sends the request of a vector and returns the differences between the response and the recorded one. Empty for a
   * setup request.
   */
  async run(vector: Vector): Promise<string[]> {
    if (vector.scene !== this.#scene) this.#bound = new Bindings();
    this.#scene = vector.scene;
    if (vector.pre === 'compact') this.#api.compact();
    await this.#pass(vector.sleepMs ?? 0);
    const received = vector.watch === undefined ? await this.#call(vector) : await this.#watch(vector);
    const result = vector.setup ? [] : differences(vector, received, this.#bound);
    this.#bindAll(vector.bind, parseJson(received.text));
    await this.#pass(vector.afterMs ?? 0);
    return result;
  }

  async #call({ request, as, background }: Pick<Vector, 'request' | 'as' | 'background'>): Promise<ReceivedResponse> {
    const backgroundResponse = background === undefined ? undefined : this.#answer(background.request, background.as);
    const answer = await this.#settled(this.#answer(request, as));
    if (backgroundResponse !== undefined) await this.#settled(backgroundResponse);
    const { code, headers } = answer;
    const hasBody = 'body' in answer && request.method !== 'HEAD';
    return { code, headers, text: hasBody ? String(answer.body) : '', at: this.#schedule.now() };
  }

  async #watch(vector: Vector): Promise<ReceivedResponse> {
    const answer = await this.#settled(this.#answer(vector.request, vector.as));
    const { code, headers } = answer;
    if ('body' in answer) return { code, headers, text: String(answer.body), at: this.#schedule.now() };
    const events: Json[] = [];
    let ended = false;
    const stop = answer.start(
      (line) => {
        const event = parseJson(line);
        if (event !== undefined && (vector.watch?.bookmarks || !isPlainBookmark(event))) events.push(event);
      },
      () => {
        ended = true;
      },
      () => {
        throw new Error('nothing cuts it');
      },
    );
    await this.#during(vector);
    await this.#until(() => ended || this.#isQuiet(vector, events.length), vector.watch?.maxMs ?? LONGEST_MS);
    stop();
    return { code, headers, text: '', events, ended, at: this.#schedule.now() };
  }

  async #during({ watch }: Vector): Promise<void> {
    await this.#pass(200);
    for (const step of watch?.during ?? []) {
      const received = await this.#call(step);
      await this.#pass(step.sleepMs ?? 0);
      this.#bindAll(step.bind, parseJson(received.text));
    }
    await this.#pass(watch?.quietMs ?? 400);
  }

  /** Whether all expected events have been received. False if the vector expects the end of the watch. */
  #isQuiet({ watch, response }: Vector, eventCount: number): boolean {
    return !watch?.untilEnd && eventCount >= (response?.events?.length ?? 0);
  }

  #answer(request: VectorRequest, as: string): ReturnType<Api['respond']> {
    const now = this.#schedule.now();
    const { method, path, headers = {} } = request;
    const body = bodyOf(request, (value) => this.#bound.fill(value, now));
    const requestHeaders = new Map([['accept', 'application/json']]);
    if (body !== undefined) requestHeaders.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) requestHeaders.delete(name);
      else requestHeaders.set(name, this.#bound.fill(value, now));
    }
    const token = this.#bound.fill(as, now).replace(/^token:/, '');
    if (as !== 'anonymous') requestHeaders.set('authorization', `Bearer ${token}`);
    return this.#api.respond({ method, url: this.#bound.fill(path, now), headers: requestHeaders, body: body ?? '' });
  }

  #bindAll(bind: Vector['bind'], body: Json | undefined): void {
    for (const [placeholder, pointer] of Object.entries(bind ?? {})) {
      const value = valueAt(body, pointer);
      const kind = placeholder.slice(1, placeholder.indexOf(':'));
      if (value !== undefined) this.#bound.set(placeholder, kind, String(value));
    }
  }

  /** Advances the clock until the promise settles. */
  async #settled<T>(answer: Promise<T>): Promise<T> {
    let isSettled = false;
    const observed = answer.finally(() => {
      isSettled = true;
    });
    await this.#until(() => isSettled, LONGEST_MS);
    return await observed;
  }

  async #until(isOver: () => boolean, mostMs: number): Promise<void> {
    await turn();
    for (let passed = 0; !isOver() && passed < mostMs; passed += STEP_MS) await this.#pass(STEP_MS);
  }

  #pass(ms: number): Promise<void> {
    return this.#schedule.advance(ms, turn);
  }
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

function bodyOf({ body, bodyText, padTo }: VectorRequest, fill: (value: Json) => Json): string | undefined {
  if (bodyText !== undefined) return bodyText;
  if (body === undefined) return undefined;
  const text = JSON.stringify(fill(body));
  return padTo === undefined ? text : text.replaceAll('<pad>', 'x'.repeat(padTo - text.length));
}

const isPlainBookmark = (event: Json): boolean => {
  if (valueAt(event, '/type') !== 'BOOKMARK' || valueAt(event, '/object/kind') === 'Table') return false;
  return valueAt(event, '/object/metadata/annotations/k8s.io~1initial-events-end') === undefined;
};

function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  const keys = pointer.split('/').slice(1);
  return keys.reduce<Json | undefined>((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) return at[Number(name)];
    return isObject(at) ? lookUp(at, name) : undefined;
  }, value);
}
