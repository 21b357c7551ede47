/** Asks a test API server what a real one was asked, on a clock that jumps. */

import { lookUp } from '../../../../base/values/lookUp.ts';
import { Api } from '../../../../testing/apiserver/api.ts';
import { isObject, type Json } from '../../../../testing/apiserver/json.ts';
import type { User } from '../../../../testing/apiserver/requests/request.ts';
import { Schedule } from '../../../../testing/simulation/run/schedule.ts';
import { differences, type Got, parsed } from './compare.ts';
import { Bindings } from './placeholders.ts';
import type { Vector, VectorRequest } from './vector.ts';

const user = (name: string, uid: string, ...groups: readonly string[]): User => ({ name, uid, groups });

/** Those who ask, by their tokens, which are what they are called in the vectors. */
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

  /** How the answer differs from the recorded one; nothing for what is only set up. */
  async run(vector: Vector): Promise<string[]> {
    if (vector.scene !== this.#scene) this.#bound = new Bindings();
    this.#scene = vector.scene;
    if (vector.pre === 'compact') this.#api.compact();
    await this.#pass(vector.sleepMs ?? 0);
    const got = vector.watch === undefined ? await this.#call(vector) : await this.#watch(vector);
    const found = vector.setup ? [] : differences(vector, got, this.#bound);
    this.#bindAll(vector.bind, parsed(got.text));
    await this.#pass(vector.afterMs ?? 0);
    return found;
  }

  async #call({ request, as, background }: Pick<Vector, 'request' | 'as' | 'background'>): Promise<Got> {
    const busy = background === undefined ? undefined : this.#answer(background.request, background.as);
    const answer = await this.#settled(this.#answer(request, as));
    if (busy !== undefined) await this.#settled(busy);
    const { code, headers } = answer;
    const isTold = 'body' in answer && request.method !== 'HEAD';
    return { code, headers, text: isTold ? String(answer.body) : '', at: this.#schedule.now() };
  }

  async #watch(vector: Vector): Promise<Got> {
    const answer = await this.#settled(this.#answer(vector.request, vector.as));
    const { code, headers } = answer;
    if ('body' in answer) return { code, headers, text: String(answer.body), at: this.#schedule.now() };
    const events: Json[] = [];
    let ended = false;
    const stop = answer.start(
      (line) => {
        const event = parsed(line);
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
      const got = await this.#call(step);
      await this.#pass(step.sleepMs ?? 0);
      this.#bindAll(step.bind, parsed(got.text));
    }
    await this.#pass(watch?.quietMs ?? 400);
  }

  /** What has come is all that will, where nobody waits for the end. */
  #isQuiet({ watch, response }: Vector, came: number): boolean {
    return !watch?.untilEnd && came >= (response?.events?.length ?? 0);
  }

  #answer(request: VectorRequest, as: string): ReturnType<Api['respond']> {
    const now = this.#schedule.now();
    const { method, path, headers = {} } = request;
    const body = bodyOf(request, (value) => this.#bound.fill(value, now));
    const sent = new Map([['accept', 'application/json']]);
    if (body !== undefined) sent.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) sent.delete(name);
      else sent.set(name, this.#bound.fill(value, now));
    }
    const token = this.#bound.fill(as, now).replace(/^token:/, '');
    if (as !== 'anonymous') sent.set('authorization', `Bearer ${token}`);
    return this.#api.respond({ method, url: this.#bound.fill(path, now), headers: sent, body: body ?? '' });
  }

  #bindAll(bind: Vector['bind'], body: Json | undefined): void {
    for (const [placeholder, pointer] of Object.entries(bind ?? {})) {
      const value = pointed(body, pointer);
      const kind = placeholder.slice(1, placeholder.indexOf(':'));
      if (value !== undefined) this.#bound.set(placeholder, kind, String(value));
    }
  }

  /** Lets time pass until an answer is there. */
  async #settled<T>(answer: Promise<T>): Promise<T> {
    let isThere = false;
    const there = answer.finally(() => {
      isThere = true;
    });
    await this.#until(() => isThere, LONGEST_MS);
    return await there;
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
  if (pointed(event, '/type') !== 'BOOKMARK' || pointed(event, '/object/kind') === 'Table') return false;
  return pointed(event, '/object/metadata/annotations/k8s.io~1initial-events-end') === undefined;
};

function pointed(value: Json | undefined, pointer: string): Json | undefined {
  const keys = pointer.split('/').slice(1);
  return keys.reduce<Json | undefined>((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) return at[Number(name)];
    return isObject(at) ? lookUp(at, name) : undefined;
  }, value);
}
