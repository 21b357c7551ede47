/** An older API server, which drops newer fields and rejects watches with initial events. */
import type { Api } from './api.ts';
import { isList, isObject, type Json, objectOf } from './json.ts';
import type { ApiRequest, ApiResponse } from './requests/request.ts';

/** The names of fields that the older server does not know. */
const UNKNOWN_FIELDS: readonly string[] = ['observedGeneration', 'declaredFeatures'];

export class OlderServer {
  readonly #api: Pick<Api, 'respond'>;

  constructor(api: Pick<Api, 'respond'>) {
    this.#api = api;
  }

  async respond(request: ApiRequest): Promise<ApiResponse> {
    const url = URL.parse(request.url, 'https://localhost');
    if (url?.searchParams.has('sendInitialEvents')) return WATCH_LIST_REFUSED;
    return await this.#api.respond({ ...request, body: olderBody(request.body) });
  }
}

const WATCH_LIST_REFUSED: ApiResponse = {
  code: 422,
  headers: new Map([['content-type', 'application/json']]),
  body: JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: 422,
    reason: 'Invalid',
    message:
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch ' +
      'unless the WatchList feature gate is enabled',
  }),
};

/** Removes the newer fields from a body. Protobuf is not changed. */
function olderBody(body: string | Uint8Array): string | Uint8Array {
  if (typeof body !== 'string' || !UNKNOWN_FIELDS.some((field) => body.includes(field))) return body;
  return JSON.stringify(withoutUnknownFields(JSON.parse(body)));
}

function withoutUnknownFields(value: Json): Json {
  if (isList(value)) return value.map(withoutUnknownFields);
  if (!isObject(value)) return value;
  const known = Object.entries(value).filter(([name]) => !UNKNOWN_FIELDS.includes(name));
  return objectOf(known.map(([name, inner]) => [name, withoutUnknownFields(inner)] as const));
}
