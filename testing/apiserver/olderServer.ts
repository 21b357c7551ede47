/** An older API server, which drops newer fields and rejects watches with initial events. */
import type { Api } from './api.ts';
import { isList, isObject, type Json, objectOf } from './json.ts';
import type { Answer, ApiRequest } from './request.ts';

/** Fields that were introduced later. */
const UNKNOWN: readonly string[] = ['observedGeneration', 'declaredFeatures'];

export class OlderServer {
  readonly #api: Pick<Api, 'answer'>;

  constructor(api: Pick<Api, 'answer'>) {
    this.#api = api;
  }

  async answer(request: ApiRequest): Promise<Answer> {
    const url = URL.parse(request.url, 'https://localhost');
    if (url?.searchParams.has('sendInitialEvents')) return WATCH_LIST_REFUSED;
    return await this.#api.answer({ ...request, body: withoutUnknown(request.body) });
  }
}

const WATCH_LIST_REFUSED: Answer = {
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

/** Protobuf is not changed. */
function withoutUnknown(body: string | Uint8Array): string | Uint8Array {
  if (typeof body !== 'string' || !UNKNOWN.some((field) => body.includes(field))) return body;
  return JSON.stringify(stripped(JSON.parse(body)));
}

function stripped(value: Json): Json {
  if (isList(value)) return value.map(stripped);
  if (!isObject(value)) return value;
  const known = Object.entries(value).filter(([name]) => !UNKNOWN.includes(name));
  return objectOf(known.map(([name, inner]) => [name, stripped(inner)] as const));
}
