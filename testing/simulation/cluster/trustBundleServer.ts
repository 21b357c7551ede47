/**
 * An API server with the beta feature ClusterTrustBundle. It serves discovery, list and watch of ClusterTrustBundles,
 * which are in the store of the wrapped server.
 */
import type { Api } from '../../apiserver/api.ts';
import type { Json, JsonObject } from '../../apiserver/json.ts';
import type { ApiRequest, ApiResponse, CompleteResponse } from '../../apiserver/requests/request.ts';
import { withMetadata } from '../../apiserver/store/metadata.ts';
import type { Store } from '../../apiserver/store/store.ts';
import { OBJECT_RESOURCES } from './apiObject.ts';

const GROUP = '/apis/certificates.k8s.io/v1beta1';
const RESOURCE = 'clustertrustbundles';
const PATH = `${GROUP}/${RESOURCE}`;
const KIND = { kind: 'ClusterTrustBundle', apiVersion: 'certificates.k8s.io/v1beta1' };
const RESOURCE_LIST = { kind: 'APIResourceList', apiVersion: 'v1' };
const STORED = OBJECT_RESOURCES.ClusterTrustBundle;
const SECOND_MS = 1_000;
const HEADERS = new Map([['content-type', 'application/json']]);
const INITIAL_EVENTS_END = { annotations: { 'k8s.io/initial-events-end': 'true' } };

const completeResponse = (code: number, body: Json): CompleteResponse => ({
  code,
  headers: HEADERS,
  body: JSON.stringify(body),
});

const EXPIRED = completeResponse(410, {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  code: 410,
  reason: 'Expired',
  message: 'too old resource version',
});

export class TrustBundleServer {
  readonly #api: Api;
  readonly #server: Pick<Api, 'respond'>;

  /** `server` handles all other requests. */
  constructor(api: Api, server: Pick<Api, 'respond'>) {
    this.#api = api;
    this.#server = server;
  }

  async respond(request: ApiRequest): Promise<ApiResponse> {
    const { pathname, searchParams } = new URL(request.url, 'https://localhost');
    if (request.method !== 'GET') return await this.#server.respond(request);
    if (pathname === GROUP)
      return completeResponse(200, {
        ...RESOURCE_LIST,
        groupVersion: KIND.apiVersion,
        resources: [{ name: RESOURCE }],
      });
    if (pathname !== PATH) return await this.#server.respond(request);
    return searchParams.get('watch') === 'true' ? this.#watch(searchParams) : this.#list();
  }

  get #store(): Store {
    return this.#api.registry.store;
  }

  #objects(): JsonObject[] {
    return this.#store.list(STORED).map(([, object]) => ({ ...object, ...KIND }));
  }

  #list(): ApiResponse {
    const metadata = { resourceVersion: String(this.#store.revision) };
    return completeResponse(200, { ...KIND, kind: 'ClusterTrustBundleList', metadata, items: this.#objects() });
  }

  #watch(query: URLSearchParams): ApiResponse {
    const sendsInitialEvents = query.get('sendInitialEvents') === 'true';
    const missed = sendsInitialEvents ? [] : this.#store.changesSince(STORED, Number(query.get('resourceVersion')));
    if (missed === undefined) return EXPIRED;
    const lastsMs = Number(query.get('timeoutSeconds')) * SECOND_MS;
    return {
      code: 200,
      headers: HEADERS,
      start: (send, end) => {
        const sendEvent = (type: string, object: JsonObject) =>
          send(`${JSON.stringify({ type, object: { ...object, ...KIND } })}\n`);
        if (sendsInitialEvents) {
          for (const each of this.#objects()) sendEvent('ADDED', each);
          sendEvent(
            'BOOKMARK',
            withMetadata({ metadata: INITIAL_EVENTS_END }, { resourceVersion: String(this.#store.revision) }),
          );
        }
        for (const { type, object } of missed) sendEvent(type, object);
        const unwatch = this.#store.watch(STORED, ({ type, object }) => sendEvent(type, object));
        const { clock } = this.#api.registry;
        const timer = clock.setTimeout(end, lastsMs);
        return () => {
          clock.clearTimeout(timer);
          unwatch();
        };
      },
    };
  }
}
