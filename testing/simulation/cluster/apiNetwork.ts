/** The network between a node and the API server of its cluster, with its faults. */
import { networkError } from '../../../actors/simulated/connection.ts';
import { unlessAborted } from '../../../base/unlessAborted.ts';
import type { KubeResponse } from '../../../kubeclient/transport.ts';
import type { Api } from '../../apiserver/api.ts';
import type { Answer, ApiRequest } from '../../apiserver/request.ts';
import { PartTroubles } from './partTroubles.ts';
import { type TokenAsked, tokenAsked } from './tokenAsked.ts';
import { WatchStream } from './watchStream.ts';

/** Connections are refused, or requests hang. */
export type ApiOutage = 'refused' | 'hanging';

const ADDRESS = { host: 'kubernetes.default.svc', port: 443 };
const reset = (): Error => networkError('reset', ADDRESS);

export class ApiNetwork {
  readonly #api: Api;
  readonly #server: Pick<Api, 'answer'>;
  readonly #streams = new Set<WatchStream>();
  #outage: ApiOutage | undefined;
  /** Rejects the requests that hang. */
  #over = Promise.withResolvers<never>();
  #isSilent = false;
  /** The requests in progress, as method and path. */
  readonly #asked = new Set<string>();
  readonly parts = new PartTroubles();
  /** Called with each status patch that has changed nothing. */
  onIdlePatch: (path: string, patch: string) => void = () => {};
  /** Called with each token request that the server has answered. */
  onToken: (asked: TokenAsked) => void = () => {};

  /** `server` handles the requests. */
  constructor(api: Api, server: Pick<Api, 'answer'> = api) {
    this.#api = api;
    this.#server = server;
    this.#over.promise.catch(() => {});
  }

  /** Sends a request and returns the response. */
  async carry(request: ApiRequest, signal: AbortSignal): Promise<KubeResponse> {
    if (this.#outage === 'refused') throw networkError('refused', ADDRESS);
    if (this.#outage === 'hanging') return await unlessAborted(this.#over.promise, signal);
    await this.parts.before(request, signal);
    const answer = await this.#answered(request);
    this.parts.after(request);
    return { code: answer.code, headers: answer.headers, body: this.#bodyOf(request, answer, signal) };
  }

  get isTroubled(): boolean {
    return this.#outage !== undefined || this.#isSilent || this.parts.isAny;
  }

  /** Whether this request is in progress, so that a write is due to it. */
  isAsked(method: string, path: string): boolean {
    return this.#asked.has(`${method} ${path}`);
  }

  /** Makes the server unreachable until `comeBack`. */
  goAway(how: ApiOutage): void {
    this.#outage = how;
    if (how === 'refused') this.cut();
    else this.#silenceAll();
  }

  /** Ends an outage. Requests that hung and open watches fail. */
  comeBack(): void {
    this.#outage = undefined;
    this.#over.reject(reset());
    this.#over = Promise.withResolvers<never>();
    this.#over.promise.catch(() => {});
    this.cut();
  }

  /** Makes open and future watches deliver nothing. */
  silence(): void {
    this.#isSilent = true;
    this.#silenceAll();
  }

  /** Breaks the silent watches. */
  endSilence(): void {
    this.#isSilent = false;
    this.cut();
  }

  /** Breaks all watches. */
  cut(): void {
    for (const stream of this.#streams) stream.cut(reset());
  }

  #silenceAll(): void {
    for (const stream of this.#streams) stream.silence();
  }

  async #answered(request: ApiRequest): Promise<Answer> {
    const { method, url, body } = request;
    const { store } = this.#api.registry;
    const { revision } = store;
    const asked = `${method} ${url}`;
    this.#asked.add(asked);
    const answer = await this.#server.answer(request);
    this.#asked.delete(asked);
    const isOfStatus = method === 'PATCH' && url.endsWith('/status') && typeof body === 'string';
    if (isOfStatus && answer.code === 200 && store.revision === revision) this.onIdlePatch(url, body);
    const token = tokenAsked(request, answer);
    if (token) this.onToken(token);
    return answer;
  }

  async *#bodyOf(request: ApiRequest, answer: Answer, signal: AbortSignal): AsyncGenerator<string> {
    if ('body' in answer) {
      yield String(answer.body);
      return;
    }
    const stream = new WatchStream();
    this.#streams.add(stream);
    if (this.#isSilent) stream.silence();
    this.parts.opened(request, stream);
    const abort = () => stream.cut(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const stop = answer.start(
      (line) => stream.push(line),
      () => stream.end(),
      () => stream.cut(reset()),
    );
    try {
      yield* stream.read();
    } finally {
      this.#streams.delete(stream);
      this.parts.closed(stream);
      signal.removeEventListener('abort', abort);
      stop();
    }
  }
}
