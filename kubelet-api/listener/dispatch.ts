/** Finds the route of a request, authenticates and authorizes its client, and calls the route. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { messageOf } from '../../base/failure.ts';
import type { Access, Admission } from '../access/access.ts';
import { NOSNIFF_HEADERS, sendError, sendText, type TextResponse } from '../answers.ts';
import type { Caller, HttpRequest, HttpResponse, Upgrade } from '../exchange.ts';
import { cleanPath, type PathMatch, type PathTable, parseTarget, rawPath } from './paths.ts';

export interface DispatchOptions {
  readonly paths: PathTable;
  /** Undefined for the read-only port, which has no access control. */
  readonly access?: Pick<Access, 'admit'> | undefined;
  readonly onError: (error: unknown) => void;
}

/** The user of all requests to a port without access control. */
const ANONYMOUS_CALLER: Caller = { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: new Map() };

interface IncomingExchange {
  readonly request: HttpRequest & HttpVersion;
  readonly response: HttpResponse;
  /** The underlying connection, which several HTTP/2 requests can share. */
  readonly connection: Socket;
  readonly upgrade: Upgrade | undefined;
  readonly signal: AbortSignal;
}

interface HttpVersion {
  readonly httpVersionMajor: number;
  /** Undefined for an HTTP/2 request. */
  readonly headersDistinct?: NodeJS.Dict<string[]>;
}

/** Dispatches a request to its route. Resolves when the route has handled the request. Never rejects. */
export async function dispatch(options: DispatchOptions, incomingExchange: IncomingExchange): Promise<void> {
  const { response } = incomingExchange;
  try {
    await respond(options, incomingExchange);
  } catch (error) {
    if (incomingExchange.signal.aborted) return;
    options.onError(error);
    if (response.headersSent) response.destroy();
    else sendError(response, 500, messageOf(error));
  }
}

async function respond({ paths, access }: DispatchOptions, incomingExchange: IncomingExchange): Promise<void> {
  const { request, response, signal } = incomingExchange;
  const { url: target = '/', method = 'GET', headers } = request;
  const url = parseTarget(target);
  if (url === null || isAmbiguous(request)) {
    // Omit the Connection header for HTTP/2, which does not allow it.
    const headers = request.httpVersionMajor < 2 ? { connection: 'close' } : {};
    sendText(response, { code: 400, text: '400 Bad Request', headers });
    return;
  }
  const path = cleanPath(url.pathname);
  const pathMatch = paths.find(path, method, headers.accept);
  if (pathMatch.kind === 'elsewhere') redirect(incomingExchange, pathMatch.path, url);
  // Redirect the client to the normalized path, because authorization and routing must use the same path.
  else if (path !== rawPath(target)) redirect(incomingExchange, path, url);
  else if (pathMatch.kind === 'nothing') sendText(response, NOT_FOUND_RESPONSE);
  else {
    const admission = await checkAccess(access, incomingExchange, path);
    if (signal.aborted) return;
    if (!admission.isAdmitted) sendText(response, admission);
    else await callRoute(pathMatch, incomingExchange, { url, caller: admission.caller });
  }
}

/**
 * Whether Go would refuse a request because it has two Host headers, or because it uses HTTP/0.9 and therefore has no
 * headers.
 */
const isAmbiguous = ({ httpVersionMajor, headersDistinct }: HttpVersion): boolean =>
  httpVersionMajor < 1 || (headersDistinct?.host?.length ?? 0) > 1;

async function callRoute(
  pathMatch: Extract<PathMatch, { readonly kind: 'fixed' | 'route' }>,
  { request, response, upgrade, signal }: IncomingExchange,
  requestIdentity: { readonly url: URL; readonly caller: Caller },
): Promise<void> {
  if (pathMatch.kind === 'fixed') sendText(response, pathMatch.response);
  else await pathMatch.route.handle({ request, response, signal, ...requestIdentity, ...(upgrade ? { upgrade } : {}) });
}

const NOT_FOUND_RESPONSE: TextResponse = { code: 404, text: '404 page not found\n', headers: NOSNIFF_HEADERS };

/** Redirects like Go's `http.Redirect`, which sends a body for GET and HEAD only. */
function redirect({ request, response }: IncomingExchange, path: string, { search }: URL): void {
  const location = path + search;
  const isReadRequest = request.method === 'GET' || request.method === 'HEAD';
  const escapedLocation = location.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
  const redirectBody = isReadRequest ? `<a href="${escapedLocation}">Temporary Redirect</a>.\n\n` : '';
  const type = isReadRequest ? { 'content-type': 'text/html; charset=utf-8' } : {};
  response.writeHead(307, { ...type, location, 'content-length': Buffer.byteLength(redirectBody) });
  response.end(redirectBody);
}

/**
 * Authenticates and authorizes the request. `path` must be the path that is also used for routing, because a client
 * could otherwise be authorized for one path and served another. Without access control, admits every request as
 * anonymous.
 */
async function checkAccess(
  access: DispatchOptions['access'],
  { request, connection, signal }: IncomingExchange,
  path: string,
): Promise<Admission> {
  if (access === undefined) return { isAdmitted: true, caller: ANONYMOUS_CALLER };
  return access.admit({ request, path, signal, ...(connection instanceof TLSSocket ? { socket: connection } : {}) });
}
