/** The fields of a token request and its response that a simulation checks. */
import { type JsonObject, numberAt, objectAt, textAt } from '../../apiserver/json.ts';
import type { ApiRequest, ApiResponse } from '../../apiserver/requests/request.ts';
import { partOf } from './apiPartFaults.ts';

export interface TokenRequest {
  readonly path: string;
  /** The UID of the pod that the token is bound to. */
  readonly podUid: string;
  readonly podName: string;
  readonly audience: string;
  /** The requested lifetime in seconds. */
  readonly seconds: number;
  /** Whether the server has issued a token. */
  readonly isIssued: boolean;
}

/** Returns undefined if the request is not a token request. */
export function tokenRequestOf(request: ApiRequest, { code }: Pick<ApiResponse, 'code'>): TokenRequest | undefined {
  if (request.method !== 'POST' || partOf(request) !== 'token') return undefined;
  const spec = objectAt(JSON.parse(Buffer.from(request.body).toString()) as JsonObject, 'spec');
  const bound = objectAt(spec, 'boundObjectRef');
  return {
    path: request.url,
    podUid: textAt(bound, 'uid'),
    podName: textAt(bound, 'name'),
    isIssued: code < 300,
    audience: Array.isArray(spec.audiences) ? spec.audiences.join() : '',
    seconds: numberAt(spec, 'expirationSeconds') ?? 0,
  };
}
