/** The network between a node and the API server of its cluster, with its faults. */
import { networkError } from '../../../actors/simulated/connection.ts';
import { unlessAborted } from '../../../base/async/unlessAborted.ts';
import type { KubeResponse } from '../../../kubeclient/transport.ts';
import type { Api } from '../../apiserver/api.ts';
import type { ApiRequest, ApiResponse } from '../../apiserver/requests/request.ts';
import { ApiPartFaults } from './apiPartFaults.ts';
import { type TokenRequest, tokenRequestOf } from './tokenRequest.ts';
import { WatchStream } from './watchStream.ts';

/** Connections are refused, or requests hang. */
export type ApiOutage = 'refused' | 'hanging';

const ADDRESS = { host: 'kubernetes.default.svc', port: 443 };
const reset = (): Error => networkError('reset', ADDRESS);

export class ApiNetwork {
  readonly #api: Api;
  readonly #server: Pick<Api, 'respond'>;
  readonly #streams = new Set<WatchStream>();
  #outage: ApiOutage | undefined;
  /** Rejects the requests that hang. */
  #outageEnd = Promise.withResolvers<never>();
  #isSilent = false;
  /** The requests in progress, as method and path. */
  readonly #inProgress = new Set<string>();
  readonly parts = new ApiPartFaults();
  /** Called with each status patch that has changed nothing. */
  onIdlePatch: (path: string, patch: string) => void = () => {};
  /** Called with each token request that the server has answered. */
  onToken: (request: TokenRequest) => void = () => {};

  /** `server` handles the requests. */
  constructor(api: Api, server: Pick<Api, 'respond'> = api) {
    this.#api = api;
    this.#server = server;
    this.#outageEnd.promise.catch(() => {});
  }

  /** Sends a request and returns the response. Throws a network error during an outage. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<KubeResponse> {
    if (this.#outage === 'refused') throw networkError('refused', ADDRESS);
    if (this.#outage === 'hanging') return await unlessAborted(this.#outageEnd.promise, signal);
    await this.parts.before(request, signal);
    const response = await this.#respond(request);
    this.parts.after(request);
    return { code: response.code, headers: response.headers, body: this.#bodyOf(request, response, signal) };
  }

  get hasFault(): boolean {
    return this.#outage !== undefined || this.#isSilent || this.parts.hasFault;
  }

  /** Whether this request is in progress, in which case it is the cause of the current write. */
  isInProgress(method: string, path: string): boolean {
    return this.#inProgress.has(`${method} ${path}`);
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
    this.#outageEnd.reject(reset());
    this.#outageEnd = Promise.withResolvers<never>();
    this.#outageEnd.promise.catch(() => {});
    this.cut();
  }

  /** Makes open and future watches deliver nothing until `endSilence`. */
  silence(): void {
    this.#isSilent = true;
    this.#silenceAll();
  }

  /** Ends the silence and breaks all watches, because they have missed events. */
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

  async #respond(request: ApiRequest): Promise<ApiResponse> {
    const { method, url, body } = request;
    const { store } = this.#api.registry;
    const { revision } = store;
    const requestLine = `${method} ${url}`;
    this.#inProgress.add(requestLine);
    const response = await this.#server.respond(request);
    this.#inProgress.delete(requestLine);
    const isStatusPatch = method === 'PATCH' && url.endsWith('/status') && typeof body === 'string';
    if (isStatusPatch && response.code === 200 && store.revision === revision) this.onIdlePatch(url, body);
    const token = tokenRequestOf(request, response);
    if (token) this.onToken(token);
    return response;
  }

  async *#bodyOf(request: ApiRequest, response: ApiResponse, signal: AbortSignal): AsyncGenerator<string> {
    if ('body' in response) {
      yield String(response.body);
      return;
    }
    const stream = new WatchStream();
    this.#streams.add(stream);
    if (this.#isSilent) stream.silence();
    this.parts.opened(request, stream);
    const abort = () => stream.cut(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const stop = response.start(
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
