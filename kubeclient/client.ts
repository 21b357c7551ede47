/** Speaks with an API server: objects as JSON, and watches as lines. */
import { assertJsonType, assertObjectType, jsonOf } from './answer.ts';
import { linesOf, startOf, textOf } from './body.ts';
import type { Clock } from './clock.ts';
import { KubeError, kubeErrorOf } from './kubeError.ts';
import type { ObjectType } from './paths.ts';
import { pause } from './pause.ts';
import { type Rate, RateLimit } from './rateLimit.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from './transport.ts';

export interface KubeClientOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Absent: whatever is asked is asked at once. */
  readonly rate?: Rate;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** In milliseconds; absent: as long as requests usually may take. */
  readonly timeoutMs?: number;
}

/** Options of a call whose response must be an object of a certain type. */
export interface TypedCallOptions extends CallOptions {
  readonly type: ObjectType;
}

export type PatchType = 'strategic-merge-patch' | 'merge-patch';

/** So long one request may take. */
const REQUEST_MS = 10_000;
/** A server that says when to come again is asked so often (`rest/request.go` of client-go). */
const MOST_TRIES = 10;
/** So long a call waits by itself for such a server, as far as its own time allows. */
const LONGEST_WAIT_MS = 10_000;
const TOO_MANY = 429;

export class KubeClient {
  readonly #options: KubeClientOptions;
  readonly #limit: RateLimit | undefined;

  constructor(options: KubeClientOptions) {
    this.#options = options;
    this.#limit = options.rate && new RateLimit(options.rate, options.clock);
  }

  /** Asks the same server without a limit: for what must not wait behind anything else, and is seldom asked. */
  unlimited(): KubeClient {
    const { rate: _, ...options } = this.#options;
    return new KubeClient(options);
  }

  /** Rejects with an `OddAnswer` unless the response is an object of the given type. */
  get(path: string, options: TypedCallOptions): Promise<unknown> {
    return this.#object({ method: 'GET', path }, options);
  }

  /** Rejects with an `OddAnswer` unless the response is of the type of the object that is sent. */
  create<Sent extends ObjectType>(path: string, object: Sent, options: CallOptions): Promise<unknown> {
    return this.#object({ method: 'POST', path, ...bodyOf(object) }, { ...options, type: object });
  }

  /** Rejects with an `OddAnswer` unless the response is of the type of the object that is sent. */
  update<Sent extends ObjectType>(path: string, object: Sent, options: CallOptions): Promise<unknown> {
    return this.#object({ method: 'PUT', path, ...bodyOf(object) }, { ...options, type: object });
  }

  /** Rejects with an `OddAnswer` unless the response is an object of the given type. */
  patch(path: string, patch: object, options: TypedCallOptions & { readonly patchType?: PatchType }): Promise<unknown> {
    const { patchType = 'strategic-merge-patch' } = options;
    return this.#object({ method: 'PATCH', path, ...bodyOf(patch, `application/${patchType}+json`) }, options);
  }

  delete(path: string, how: object, options: CallOptions): Promise<unknown> {
    return this.#json(
      { method: 'DELETE', path, ...bodyOf({ kind: 'DeleteOptions', apiVersion: 'v1', ...how }) },
      options,
    );
  }

  /** Opens a watch; its events come as they are read, until the server ends it or the signal aborts. */
  async watch(path: string, { signal }: Pick<CallOptions, 'signal'>): Promise<AsyncIterable<unknown>> {
    const { transport } = this.#options;
    await this.#turn(signal);
    const request = this.#request({ method: 'GET', path, isWatch: true });
    const response = await this.#within({ signal }, (opening) => transport.send(request, { signal: opening }));
    if (response.code !== 200) throw await refusalOf(response);
    assertJsonType(response.headers, `GET ${path}`);
    return linesOf(response.body, `GET ${path}`);
  }

  /** Gives up the connections, which may be dead: what is asked next is asked over a new one. */
  reconnect(): void {
    this.#options.transport.reset();
  }

  async #object(request: Asked, options: TypedCallOptions): Promise<unknown> {
    const object = await this.#json(request, options);
    assertObjectType(object, options.type, `${request.method} ${request.path}`);
    return object;
  }

  async #json(request: Asked, options: CallOptions): Promise<unknown> {
    const { signal, timeoutMs = REQUEST_MS } = options;
    let left = timeoutMs;
    for (let tries = 1; ; tries += 1) {
      await this.#turn(signal);
      const begunAt = this.#options.clock.monotonic();
      try {
        return await this.#once(request, options);
      } catch (error) {
        left -= this.#options.clock.monotonic() - begunAt;
        const wait = tries < MOST_TRIES ? waitAfter(error) : undefined;
        // Whoever has to wait longer than a call may take does so where that can be seen.
        if (wait === undefined || wait > LONGEST_WAIT_MS || wait >= left) throw error;
        left -= wait;
        await pause(wait, this.#options.clock, signal);
      }
    }
  }

  /** Waits until the rate allows one more request. */
  async #turn(signal: AbortSignal): Promise<void> {
    const wait = this.#limit?.take() ?? 0;
    if (wait === 0) return;
    try {
      await pause(wait, this.#options.clock, signal);
    } catch (error) {
      this.#limit?.giveBack();
      throw error;
    }
  }

  #once(request: Asked, options: CallOptions): Promise<unknown> {
    return this.#within(options, async (signal) => {
      const response = await this.#options.transport.send(this.#request(request), { signal });
      if (response.code < 200 || response.code >= 300) throw await refusalOf(response);
      const asked = `${request.method} ${request.path}`;
      assertJsonType(response.headers, asked);
      const text = await textOf(response.body);
      return text === '' ? undefined : jsonOf(text, asked);
    });
  }

  #request({ headers = {}, ...request }: Asked): KubeRequest {
    const { userAgent } = this.#options;
    return { ...request, headers: { accept: 'application/json', 'user-agent': userAgent, ...headers } };
  }

  async #within<T>(
    { signal, timeoutMs = REQUEST_MS }: CallOptions,
    act: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const late = new Error(`no answer within ${timeoutMs / 1000}s`);
    const timer = clock.setTimeout(() => limit.abort(late), timeoutMs);
    try {
      return await act(anyOf(signal, limit.signal));
    } catch (error) {
      throw limit.signal.aborted && !signal.aborted ? new Error(late.message, { cause: error }) : error;
    } finally {
      clock.clearTimeout(timer);
    }
  }
}

type Asked = Omit<KubeRequest, 'headers'> & Partial<Pick<KubeRequest, 'headers'>>;

const anyOf = (...signals: readonly AbortSignal[]): AbortSignal => AbortSignal.any([...signals]);

const bodyOf = (object: object, contentType = 'application/json') => ({
  body: JSON.stringify(object),
  headers: { 'content-type': contentType },
});

const refusalOf = async ({ code, headers, body }: KubeResponse): Promise<KubeError> =>
  kubeErrorOf(code, await startOf(body), headers.get('retry-after'));

/** How long to wait before the same request once more; undefined: that is for the caller to decide. */
function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof KubeError) || (error.code !== TOO_MANY && error.code < 500)) return undefined;
  return error.retryAfterMs;
}
