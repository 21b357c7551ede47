/** Forwards requests to nodes. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Forward } from '../connect/forward.ts';
import { badRequest, Failure, internalError, unavailable } from '../failures/failures.ts';
import type { ApiResponse } from '../requests/request.ts';
import { errorResponse, PLAIN_JSON } from '../responses/responses.ts';
import type { SendToNode } from './nodeClient.ts';

/** Hop-by-hop headers and credentials, which are not forwarded, because the server uses its own identity. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Returns the headers of a forwarded request. */
export function headersFor(
  headers: IncomingHttpHeaders,
  from = '',
  more: OutgoingHttpHeaders = {},
): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith(':') && !NOT_FORWARDED.has(name));
  const before = headers['x-forwarded-for'];
  return { ...Object.fromEntries(kept), 'x-forwarded-for': [before ?? [], from].flat().join(', '), ...more };
}

/** The client's response. */
export interface Sink extends NodeJS.WritableStream {
  writeHead(code: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders?(): unknown;
}

interface ForwardedRequest {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** Forwards a request and its response. Returns a response to send instead, if there is one. */
export async function forward(
  sendToNode: SendToNode,
  { kind, node, path, pod }: Forward,
  { method, headers, body, signal }: ForwardedRequest,
  response: Sink,
): Promise<ApiResponse | undefined> {
  if (kind !== 'log' && kind !== 'proxy') return errorResponse(badRequest('Upgrade request required'), PLAIN_JSON);
  const isLog = kind === 'log';
  const own = { method: isLog ? 'GET' : method, path, headers: isLog ? {} : headers, signal };
  let nodeResponse: Awaited<ReturnType<SendToNode>>;
  try {
    nodeResponse = await sendToNode(node, body.length === 0 ? own : { ...own, body });
  } catch (error) {
    return errorResponse(connectionFailure(error, isLog, path), PLAIN_JSON);
  }
  const { statusCode = 0 } = nodeResponse.response;
  if (isLog && statusCode !== OK)
    return errorResponse(await failureOfLog(nodeResponse.response, pod ?? ''), PLAIN_JSON);
  response.writeHead(statusCode, isLog ? { 'content-type': 'text/plain' } : responseHeaders(nodeResponse.response));
  response.flushHeaders?.();
  await pipeline(nodeResponse.response, response, { signal });
  return undefined;
}

const OK = 200;

function connectionFailure(error: unknown, isLog: boolean, path: string): Failure {
  const why = error instanceof Error ? error.message : String(error);
  return isLog
    ? internalError(`Get ${JSON.stringify(path)}: ${why}`)
    : unavailable(`error trying to reach service: ${why}`);
}

const responseHeaders = ({ headers }: IncomingMessage): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.has(name) || name === 'content-length'));

/** The error for a failed log request (`GenericHttpResponseChecker` of apiserver). */
async function failureOfLog(response: IncomingMessage, pod: string): Promise<Failure> {
  const responseText = await text(response);
  const { statusCode = 0 } = response;
  if (statusCode === 400) return badRequest(responseText);
  if (statusCode === 500) {
    const causes = [{ reason: '', message: responseText }];
    return new Failure(statusCode, 'InternalError', `Internal error occurred: ${responseText}`, { causes });
  }
  const about = { name: pod, kind: 'pods/log' };
  if (statusCode === 404)
    return new Failure(404, 'NotFound', `the server could not find the requested resource ( pods/log ${pod})`, about);
  return new Failure(statusCode, '', `the server responded with the status code ${statusCode}: ${responseText}`, about);
}
