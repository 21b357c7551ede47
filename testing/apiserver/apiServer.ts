/** The API server for tests, in memory and over HTTPS. */

import type { TimerClock } from '../../base/time/clock.ts';
import { Api } from './api.ts';
import type { Grant } from './authorization/grants.ts';
import { startControllers } from './controllers/controllers.ts';
import { defaultPolicy, type SigningPolicy } from './controllers/signer.ts';
import type { Faults } from './faults.ts';
import type { Json, JsonObject } from './json.ts';
import type { DisabledFeature } from './registry/strategies/pods/disabledFields.ts';
import type { ApiRequest, ApiResponse, CompleteResponse, User } from './requests/request.ts';
import { Authority } from './serving/authority.ts';
import { type ServeApiOptions, type ServedApi, serveApi } from './serving/servedApi.ts';

/** The error of a failed request. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly code: number;

  constructor(code: number, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

export interface WatchedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: JsonObject;
}

const ADMIN: User = { name: 'kubernetes-admin', groups: ['system:masters'] };
const FIRST_ERROR = 400;

export class ApiServer {
  /** The faults to inject. They do not apply to `request` and `watch`. */
  readonly faults: Faults;
  /** The policy by which certificate signing requests are decided and signed. Can be changed at any time. */
  readonly signing: SigningPolicy = defaultPolicy();
  /** Users by bearer token, in addition to service accounts. Can be changed at any time. */
  readonly tokens = new Map<string, User>();
  readonly #api: Api;
  readonly #authority = new Authority();
  #address = '127.0.0.1:6443';
  #stopControllers: () => void = () => undefined;

  /**
   * Additional permissions of users and groups. By default, the permissions of `system:kubelet-api-admin`. Can be
   * changed at any time.
   */
  readonly grants: Grant[];

  /**
   * Enabled feature gates that are disabled by default in 1.36, such as `ClusterTrustBundleProjection`. Can be changed
   * at any time.
   */
  readonly features: Set<DisabledFeature>;

  private constructor(clock: TimerClock) {
    const address = () => this.#address;
    this.#api = new Api({
      clock,
      tokens: this.tokens,
      get address() {
        return address();
      },
    });
    this.faults = this.#api.faults;
    this.grants = this.#api.grants;
    this.features = this.#api.registry.features;
  }

  /** Starts the API server of an empty cluster, with its controllers. */
  static async start(clock: TimerClock): Promise<ApiServer> {
    const server = new ApiServer(clock);
    server.#stopControllers = await startControllers(server.#api, server.#authority, server.signing);
    return server;
  }

  /** Handles a request in memory with the permissions of `user`. Rejects if a fault cuts the connection. */
  respond(request: ApiRequest): Promise<ApiResponse> {
    return this.#api.respond(request);
  }

  /** Sends a request as an administrator and returns the object. Rejects with a `RequestFailed`. */
  async request(method: string, path: string, body?: Json, contentType = 'application/json'): Promise<JsonObject> {
    const answer = await this.#requestAsAdmin(method, path, body, contentType);
    if ('body' in answer) return objectIn(answer);
    throw new RequestFailed(answer.code, `${path} is a watch`);
  }

  /**
   * Calls `onEvent` with each event of a watch, such as `/api/v1/pods?watch=true`, until the returned function is
   * called.
   */
  async watch(path: string, onEvent: (event: WatchedEvent) => void): Promise<() => void> {
    const answer = await this.#requestAsAdmin('GET', path);
    if (!('body' in answer))
      return answer.start(
        (line) => onEvent(JSON.parse(line)),
        () => undefined,
        () => undefined,
      );
    objectIn(answer);
    throw new RequestFailed(answer.code, `${path} is no watch`);
  }

  /** Serves the API over HTTP/2 and TLS. */
  async serve(options: ServeApiOptions = {}): Promise<ServedApi> {
    const served = await serveApi(this.#api, this.#authority, options);
    this.#address = `127.0.0.1:${served.port}`;
    return served;
  }

  /** Compacts the history of all resources, so that clients whose watch breaks must relist. */
  compactHistory(): void {
    this.#api.compactAll();
  }

  /** Stops the controllers of the cluster. */
  close(): void {
    this.#stopControllers();
  }

  #requestAsAdmin(method: string, url: string, body?: Json, contentType = 'application/json'): Promise<ApiResponse> {
    const text = body === undefined ? '' : JSON.stringify(body);
    return this.#api.respondWithoutFaults({
      method,
      url,
      headers: new Map([['content-type', contentType]]),
      body: text,
      user: ADMIN,
    });
  }
}

function objectIn({ code, body }: CompleteResponse): JsonObject {
  const object = JSON.parse(String(body));
  if (code >= FIRST_ERROR) throw new RequestFailed(code, object.message);
  return object;
}
