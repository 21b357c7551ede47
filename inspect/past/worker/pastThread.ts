/** Reads and replays the past in a worker thread, which runs only while there are requests. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../base/time/clock.ts';
import { scriptPath } from '../../../host/scriptPath.ts';
import { NotInspected } from '../../inspected.ts';
import type { Past } from '../past.ts';
import type { PastResponse, PastTask, PastWorkerData } from './pastTask.ts';

interface PastThreadOptions extends PastWorkerData {
  readonly clock: Clock;
  /** Called before each request so that a running recorder writes its pending lines first. */
  readonly beforeRequest?: () => Promise<void>;
}

/** Time without requests after which the thread is terminated, in milliseconds. */
const IDLE_TIMEOUT_MS = 60_000;
/**
 * Timeout of a request, in milliseconds. Even the largest recording takes much less time. After the timeout, the thread
 * is terminated and the request is rejected.
 */
const REQUEST_TIMEOUT_MS = 60_000;
const MAX_HEAP_MEGABYTES = 512;
const CLOSED_MESSAGE = 'the page has been closed';

/** Maximum number of concurrent requests. Further requests are rejected. The page never sends this many. */
const MAX_CONCURRENT_REQUESTS = 8;

/** Methods that users wait for. Calls of these methods take precedence over older requests for histories. */
const URGENT_METHODS: ReadonlySet<keyof Past> = new Set(['moment', 'detail']);

interface PendingRequest {
  readonly task: PastTask;
  readonly resolve: (json: string) => void;
  readonly reject: (error: Error) => void;
}

/** Sends requests to the thread sequentially, urgent ones first. Starts the thread on demand. */
export class PastThread implements Past {
  readonly #options: PastThreadOptions;
  readonly #queue: PendingRequest[] = [];
  /** The request that the thread is processing, with its timeout timer. */
  #currentRequest: (PendingRequest & { readonly timer: unknown }) | undefined;
  #worker: Worker | undefined;
  #lastId = 0;
  /** Number of requests in progress, including those that still wait for `beforeRequest`. */
  #requestCount = 0;
  #idleTimer: unknown;
  #isClosed = false;

  constructor(options: PastThreadOptions) {
    this.#options = options;
  }

  recorded = () => this.#request('recorded');
  moment = (at: number) => this.#request('moment', at);
  story = (uid: string, from: number, to: number) => this.#request('story', uid, from, to);
  rail = (now?: number) => this.#request('rail', now);
  detail = (path: string, at: number) => this.#request('detail', path, at);
  actorHistory = (path: string, at: number) => this.#request('actorHistory', path, at);
  object = (uid: string, at: number) => this.#request('object', uid, at);
  entry = (actor: string, source: string, at: number) => this.#request('entry', actor, source, at);
  actorPast = (path: string, at: number) => this.#request('actorPast', path, at);

  /** Rejects all pending and future requests. */
  close(): void {
    this.#isClosed = true;
    this.#terminateWorker();
    for (const { reject } of [this.takeCurrentRequest(), ...this.#queue.splice(0)].flatMap((request) => request ?? []))
      reject(new Error(CLOSED_MESSAGE));
  }

  async #request<K extends keyof Past>(method: K, ...args: Parameters<Past[K]>): Promise<Awaited<ReturnType<Past[K]>>> {
    if (this.#isClosed) throw new Error(CLOSED_MESSAGE);
    if (this.#requestCount >= MAX_CONCURRENT_REQUESTS) throw new Error('too much is asked of the recording at a time');
    this.#requestCount += 1;
    try {
      await this.#options.beforeRequest?.();
      if (this.#isClosed) throw new Error(CLOSED_MESSAGE);
      const response: unknown = JSON.parse(await this.#enqueue(method, args));
      // Safe cast, because the thread runs the same program. A null stands for undefined, which JSON cannot represent.
      return (response ?? undefined) as Awaited<ReturnType<Past[K]>>;
    } finally {
      this.#requestCount -= 1;
    }
  }

  #enqueue(method: keyof Past, args: readonly unknown[]): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#lastId += 1;
    this.#queue.push({ task: { id: this.#lastId, method, args }, resolve, reject });
    this.#sendNext();
    return promise;
  }

  /** Sends the next request if the thread is idle. */
  #sendNext(): void {
    if (this.#currentRequest) return;
    const { clock } = this.#options;
    clock.clearTimeout(this.#idleTimer);
    const urgentIndex = this.#queue.findIndex(({ task }) => URGENT_METHODS.has(task.method));
    const [next] = this.#queue.splice(Math.max(0, urgentIndex), 1);
    if (next) {
      const timer = clock.setTimeout(
        () => this.failCurrentRequest(`no answer within ${REQUEST_TIMEOUT_MS / 1_000} s`),
        REQUEST_TIMEOUT_MS,
      );
      this.#currentRequest = { ...next, timer };
      this.#startWorker().postMessage(next.task);
    } else if (this.#worker) this.#idleTimer = clock.setTimeout(() => this.#terminateWorker(), IDLE_TIMEOUT_MS);
  }

  /** Terminates the thread and rejects its current request. A new thread serves the remaining requests. */
  failCurrentRequest(reason: string): void {
    this.#terminateWorker();
    this.takeCurrentRequest()?.reject(new Error(reason));
    this.#sendNext();
  }

  #terminateWorker(): void {
    this.#options.clock.clearTimeout(this.#idleTimer);
    this.#worker?.terminate().catch(() => {});
    this.#worker = undefined;
  }

  /** Returns the current request, and clears it and its timeout. */
  takeCurrentRequest(): PendingRequest | undefined {
    const currentRequest = this.#currentRequest;
    this.#options.clock.clearTimeout(currentRequest?.timer);
    this.#currentRequest = undefined;
    return currentRequest;
  }

  #startWorker(): Worker {
    if (this.#worker) return this.#worker;
    const { path, machines, mode } = this.#options;
    const workerData: PastWorkerData = { path, machines, mode };
    const worker = new Worker(scriptPath(import.meta.dirname, 'pastWorker'), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES },
    });
    worker.unref();
    // The parameter type is safe, because the worker sends only responses.
    worker.on('message', (response: PastResponse) => this.#handleResponse(response));
    worker.on('error', (error) => this.#handleWorkerLoss(worker, error.message));
    worker.on('exit', () => this.#handleWorkerLoss(worker, 'the thread that reads the recording exited'));
    this.#worker = worker;
    return worker;
  }

  #handleResponse(response: PastResponse): void {
    // Ignore a response from a thread that has been terminated.
    if (response.id !== this.#currentRequest?.task.id) return;
    const request = this.takeCurrentRequest();
    if ('json' in response) request?.resolve(response.json);
    else
      request?.reject(response.isMissing ? new NotInspected(response.errorMessage) : new Error(response.errorMessage));
    this.#sendNext();
  }

  #handleWorkerLoss(worker: Worker, reason: string): void {
    if (worker === this.#worker) this.failCurrentRequest(reason);
  }
}
