/** Speaks with an API server: objects as JSON, and watches as lines. */
import { assertJsonType, assertObjectType, jsonOf } from './answer.ts';
import { linesOf, startOf, textOf } from './body.ts';
import type { Clock } from './clock.ts';
import { type KubeError, kubeErrorOf } from './kubeError.ts';
import type { ObjectType } from './paths.ts';
import { pause } from './pause.ts';
import { type Rate, RateLimit } from './rateLimit.ts';
import type { RequestObserver } from './requestObserver.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from './transport.ts';

export interface KubeClientOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Absent: whatever is asked is asked at once. */
  readonly rate?: Rate;
  readonly observer?: RequestObserver | undefined;
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
    const asked = { method: 'GET', path, isWatch: true };
    await this.#turn(asked.method, signal);
    const response = await this.#within({ signal }, (opening) => this.#send(asked, opening));
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
    const { clock, observer } = this.#options;
    const startedAt = clock.monotonic();
    try {
      const { code, text, retryAfter } = await this.#withRetries(request, options);
      observer?.received(request.method, Buffer.byteLength(text));
      if (!isSuccess(code)) throw kubeErrorOf(code, text, retryAfter);
      return text === '' ? undefined : jsonOf(text, `${request.method} ${request.path}`);
    } finally {
      observer?.completed(request.method, clock.monotonic() - startedAt);
    }
  }

  /** Sends a request again as long as the server asks for that, and returns its last response. */
  async #withRetries(request: Asked, options: CallOptions): Promise<ReadResponse> {
    const { signal, timeoutMs = REQUEST_MS } = options;
    let left = timeoutMs;
    for (let tries = 1; ; tries += 1) {
      await this.#turn(request.method, signal);
      const begunAt = this.#options.clock.monotonic();
      const response = await this.#once(request, options, tries > 1);
      left -= this.#options.clock.monotonic() - begunAt;
      const wait = tries < MOST_TRIES ? waitAfter(response) : undefined;
      // Whoever has to wait longer than a call may take does so where that can be seen.
      if (wait === undefined || wait > LONGEST_WAIT_MS || wait >= left) return response;
      left -= wait;
      await pause(wait, this.#options.clock, signal);
    }
  }

  /** Waits until the rate allows one more request. */
  async #turn(method: string, signal: AbortSignal): Promise<void> {
    if (this.#limit === undefined) return;
    const { clock, observer } = this.#options;
    const wait = this.#limit.take();
    const startedAt = clock.monotonic();
    try {
      if (wait > 0) await pause(wait, clock, signal);
    } catch (error) {
      this.#limit.giveBack();
      throw error;
    } finally {
      observer?.throttled(method, clock.monotonic() - startedAt);
    }
  }

  #once(request: Asked, options: CallOptions, isRetry: boolean): Promise<ReadResponse> {
    return this.#within(options, async (signal) => {
      const { code, headers, body } = await this.#send(request, signal, isRetry);
      const retryAfter = headers.get('retry-after');
      if (!isSuccess(code)) return { code, text: await startOf(body), retryAfter };
      assertJsonType(headers, `${request.method} ${request.path}`);
      return { code, text: await textOf(body), retryAfter };
    });
  }

  async #send(request: Asked, signal: AbortSignal, isRetry = false): Promise<KubeResponse> {
    const { transport, observer } = this.#options;
    const { method, isWatch = false, body = '' } = request;
    const report = (code?: number) =>
      observer?.attempted({ method, code, isRetry, sentBytes: isWatch ? undefined : Buffer.byteLength(body) });
    try {
      const response = await transport.send(this.#request(request), { signal });
      report(response.code);
      return response;
    } catch (error) {
      report();
      throw error;
    }
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

/** A response that was read completely. Of a refusal the text is the start of its body. */
interface ReadResponse {
  readonly code: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

const isSuccess = (code: number): boolean => code >= 200 && code < 300;

/** How long to wait before the same request once more; undefined: that is for the caller to decide. */
function waitAfter({ code, text, retryAfter }: ReadResponse): number | undefined {
  return code === TOO_MANY || code >= 500 ? kubeErrorOf(code, text, retryAfter).retryAfterMs : undefined;
}
