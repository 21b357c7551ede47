/** A token request for a pod with its response, as far as a simulation checks it. */
import { type JsonObject, numberAt, objectAt, textAt } from '../../apiserver/json.ts';
import type { Answer, ApiRequest } from '../../apiserver/request.ts';
import { partOf } from './partTroubles.ts';

export interface TokenAsked {
  readonly path: string;
  /** The UID of the pod that the token is bound to. */
  readonly podUid: string;
  readonly podName: string;
  readonly audience: string;
  /** The requested lifetime. */
  readonly seconds: number;
  /** Whether the server has issued a token. */
  readonly isMade: boolean;
}

/** Undefined for any other request. */
export function tokenAsked(request: ApiRequest, { code }: Pick<Answer, 'code'>): TokenAsked | undefined {
  if (request.method !== 'POST' || partOf(request) !== 'token') return undefined;
  const spec = objectAt(JSON.parse(Buffer.from(request.body).toString()) as JsonObject, 'spec');
  const bound = objectAt(spec, 'boundObjectRef');
  return {
    path: request.url,
    podUid: textAt(bound, 'uid'),
    podName: textAt(bound, 'name'),
    isMade: code < 300,
    audience: Array.isArray(spec.audiences) ? spec.audiences.join() : '',
    seconds: numberAt(spec, 'expirationSeconds') ?? 0,
  };
}
