/** Sends requests to an API server and streams watches, with JSON objects as bodies. */

import type { Clock } from '../base/time/clock.ts';
import { assertJsonType, assertObjectType, parseJsonBody } from './answer.ts';
import { readBody, readErrorBody, readJsonLines } from './body.ts';
import { createErrorFromResponse, type KubeError } from './kubeError.ts';
import type { ObjectType } from './paths.ts';
import { pause } from './pause.ts';
import { RateLimit, type RateLimitOptions } from './rateLimit.ts';
import type { RequestObserver } from './requestObserver.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from './transport.ts';

export interface KubeClientOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Rate limit for requests. Undefined if there is no limit. */
  readonly rateLimit?: RateLimitOptions;
  readonly observer?: RequestObserver | undefined;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Timeout of the call, in milliseconds. The default is `REQUEST_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
}

/** Options of a call whose response must be an object of the given type. */
export interface TypedCallOptions extends CallOptions {
  readonly type: ObjectType;
}

export type PatchType = 'strategic-merge-patch' | 'merge-patch';

const REQUEST_TIMEOUT_MS = 10_000;
/**
 * Maximum number of attempts for a request that the server rejects with a retry-after header (`rest/request.go` of
 * client-go).
 */
const MAX_ATTEMPTS = 10;
/**
 * Maximum delay before a retry within a call, in milliseconds. If the server requests a longer delay, the call fails
 * without a retry.
 */
const MAX_RETRY_DELAY_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

export class KubeClient {
  readonly #options: KubeClientOptions;
  readonly #rateLimit: RateLimit | undefined;

  constructor(options: KubeClientOptions) {
    this.#options = options;
    this.#rateLimit = options.rateLimit && new RateLimit(options.rateLimit, options.clock);
  }

  /** Returns a client without the rate limit, for rare requests that must not be delayed. */
  unlimited(): KubeClient {
    const { rateLimit: _, ...options } = this.#options;
    return new KubeClient(options);
  }

  /** Gets an object. Rejects with an `UnexpectedResponse` if the response is not of the expected type. */
  get(path: string, options: TypedCallOptions): Promise<unknown> {
    return this.#requestObject({ method: 'GET', path }, options);
  }

  /** Creates an object. Rejects with an `UnexpectedResponse` if the response is not of the expected type. */
  create<Sent extends ObjectType>(path: string, object: Sent, options: CallOptions): Promise<unknown> {
    return this.#requestObject({ method: 'POST', path, ...toJsonRequest(object) }, { ...options, type: object });
  }

  /** Replaces an object. Rejects with an `UnexpectedResponse` if the response is not of the expected type. */
  update<Sent extends ObjectType>(path: string, object: Sent, options: CallOptions): Promise<unknown> {
    return this.#requestObject({ method: 'PUT', path, ...toJsonRequest(object) }, { ...options, type: object });
  }

  /** Patches an object. Rejects with an `UnexpectedResponse` if the response is not of the expected type. */
  patch(path: string, patch: object, options: TypedCallOptions & { readonly patchType?: PatchType }): Promise<unknown> {
    const { patchType = 'strategic-merge-patch' } = options;
    return this.#requestObject(
      { method: 'PATCH', path, ...toJsonRequest(patch, `application/${patchType}+json`) },
      options,
    );
  }

  delete(path: string, deleteOptions: object, options: CallOptions): Promise<unknown> {
    return this.#requestJson(
      { method: 'DELETE', path, ...toJsonRequest({ kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions }) },
      options,
    );
  }

  /** Opens a watch and yields its events until the server closes it or the signal aborts. */
  async watch(path: string, { signal }: Pick<CallOptions, 'signal'>): Promise<AsyncIterable<unknown>> {
    const request = { method: 'GET', path, isWatch: true };
    await this.#waitForRateLimit(request.method, signal);
    const response = await this.#withTimeout({ signal }, (openSignal) => this.#sendRequest(request, openSignal));
    if (response.code !== 200) throw await readError(response);
    assertJsonType(response.headers, `GET ${path}`);
    return readJsonLines(response.body, `GET ${path}`, this.#options.clock.turns);
  }

  /** Closes the connections, which may be dead. The next request uses a new connection. */
  reconnect(): void {
    this.#options.transport.reset();
  }

  async #requestObject(request: RequestInput, options: TypedCallOptions): Promise<unknown> {
    const object = await this.#requestJson(request, options);
    assertObjectType(object, options.type, `${request.method} ${request.path}`);
    return object;
  }

  async #requestJson(request: RequestInput, options: CallOptions): Promise<unknown> {
    const { clock, observer } = this.#options;
    const startedAt = clock.monotonic();
    try {
      const { code, bodyText, retryAfter } = await this.#withRetries(request, options);
      observer?.onResponse(request.method, Buffer.byteLength(bodyText));
      if (!isSuccessCode(code)) throw createErrorFromResponse(code, bodyText, retryAfter);
      return bodyText === '' ? undefined : parseJsonBody(bodyText, `${request.method} ${request.path}`);
    } finally {
      observer?.onCompleted(request.method, clock.monotonic() - startedAt);
    }
  }

  /** Sends a request, retries it if the server sends a retry-after header, and returns the last response. */
  async #withRetries(request: RequestInput, options: CallOptions): Promise<ReadResponse> {
    const { signal, timeoutMs = REQUEST_TIMEOUT_MS } = options;
    let remainingMs = timeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      await this.#waitForRateLimit(request.method, signal);
      const startedAt = this.#options.clock.monotonic();
      const response = await this.#sendOnce(request, options, attempt > 1);
      remainingMs -= this.#options.clock.monotonic() - startedAt;
      const delayMs = attempt < MAX_ATTEMPTS ? retryDelay(response) : undefined;
      // Let the caller handle a longer delay, because the caller can report it.
      if (delayMs === undefined || delayMs > MAX_RETRY_DELAY_MS || delayMs >= remainingMs) return response;
      remainingMs -= delayMs;
      await pause(delayMs, this.#options.clock, signal);
    }
  }

  /** Waits until the rate limit allows the next request, and reports the delay to the observer. */
  async #waitForRateLimit(method: string, signal: AbortSignal): Promise<void> {
    if (this.#rateLimit === undefined) return;
    const { clock, observer } = this.#options;
    const delayMs = this.#rateLimit.takeToken();
    const startedAt = clock.monotonic();
    try {
      if (delayMs > 0) await pause(delayMs, clock, signal);
    } catch (error) {
      this.#rateLimit.releaseToken();
      throw error;
    } finally {
      observer?.onRateLimited(method, clock.monotonic() - startedAt);
    }
  }

  #sendOnce(request: RequestInput, options: CallOptions, isRetry: boolean): Promise<ReadResponse> {
    return this.#withTimeout(options, async (signal) => {
      const { code, headers, body } = await this.#sendRequest(request, signal, isRetry);
      const retryAfter = headers.get('retry-after');
      if (!isSuccessCode(code)) return { code, bodyText: await readErrorBody(body), retryAfter };
      assertJsonType(headers, `${request.method} ${request.path}`);
      return { code, bodyText: await readBody(body), retryAfter };
    });
  }

  async #sendRequest(request: RequestInput, signal: AbortSignal, isRetry = false): Promise<KubeResponse> {
    const { transport, observer } = this.#options;
    const { method, isWatch = false, body = '' } = request;
    const reportAttempt = (code?: number) =>
      observer?.onAttempt({ method, code, isRetry, sentBytes: isWatch ? undefined : Buffer.byteLength(body) });
    try {
      const response = await transport.send(this.#request(request), { signal });
      reportAttempt(response.code);
      return response;
    } catch (error) {
      reportAttempt();
      throw error;
    }
  }

  #request({ headers = {}, ...fullRequest }: RequestInput): KubeRequest {
    const { userAgent } = this.#options;
    return { ...fullRequest, headers: { accept: 'application/json', 'user-agent': userAgent, ...headers } };
  }

  async #withTimeout<T>(
    { signal, timeoutMs = REQUEST_TIMEOUT_MS }: CallOptions,
    sendRequest: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const timeoutController = new AbortController();
    const timeoutError = new Error(`no answer within ${timeoutMs / 1000}s`);
    const timer = clock.setTimeout(() => timeoutController.abort(timeoutError), timeoutMs);
    try {
      return await sendRequest(anySignal(signal, timeoutController.signal));
    } catch (error) {
      throw timeoutController.signal.aborted && !signal.aborted
        ? new Error(timeoutError.message, { cause: error })
        : error;
    } finally {
      clock.clearTimeout(timer);
    }
  }
}

type RequestInput = Omit<KubeRequest, 'headers'> & Partial<Pick<KubeRequest, 'headers'>>;

const anySignal = (...signals: readonly AbortSignal[]): AbortSignal => AbortSignal.any([...signals]);

const toJsonRequest = (object: object, contentType = 'application/json') => ({
  body: JSON.stringify(object),
  headers: { 'content-type': contentType },
});

const readError = async ({ code, headers, body }: KubeResponse): Promise<KubeError> =>
  createErrorFromResponse(code, await readErrorBody(body), headers.get('retry-after'));

/** A response that has been read completely. For an error response, the text is only the start of the body. */
interface ReadResponse {
  readonly code: number;
  readonly bodyText: string;
  readonly retryAfter: string | undefined;
}

const isSuccessCode = (code: number): boolean => code >= 200 && code < 300;

/** Returns the delay before a retry in milliseconds. Undefined if the call must not be repeated. */
function retryDelay({ code, bodyText, retryAfter }: ReadResponse): number | undefined {
  return code === TOO_MANY_REQUESTS || code >= 500
    ? createErrorFromResponse(code, bodyText, retryAfter).retryAfterMs
    : undefined;
}
