/** Routes a request, authenticates and authorizes its client, and calls the route. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { messageOf } from '../../base/failure.ts';
import type { Access, Admission } from '../access/access.ts';
import { type Fixed, NOSNIFF, sendError, sendText } from '../answers.ts';
import type { Caller, HttpRequest, HttpResponse, Upgrade } from '../exchange.ts';
import { cleanPath, type Found, type Paths, urlOf, writtenPath } from './paths.ts';

export interface Dispatched {
  readonly paths: Paths;
  /** Absent: everybody may, as at the read-only port. */
  readonly access?: Pick<Access, 'admit'> | undefined;
  readonly onError: (error: unknown) => void;
}

/** As anybody is at a port where nobody is asked. */
const ANYBODY: Caller = { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: new Map() };

interface Arrived {
  readonly request: HttpRequest & HttpVersion;
  readonly response: HttpResponse;
  /** The connection, which several requests of HTTP/2 share. */
  readonly connection: Socket;
  readonly upgrade: Upgrade | undefined;
  readonly signal: AbortSignal;
}

interface HttpVersion {
  readonly httpVersionMajor: number;
  /** Undefined for HTTP/2. */
  readonly headersDistinct?: NodeJS.Dict<string[]>;
}

/** Resolves once the route is done with it; never rejects. */
export async function dispatch(parts: Dispatched, arrived: Arrived): Promise<void> {
  const { response } = arrived;
  try {
    await respond(parts, arrived);
  } catch (error) {
    if (arrived.signal.aborted) return;
    parts.onError(error);
    if (response.headersSent) response.destroy();
    else sendError(response, 500, messageOf(error));
  }
}

async function respond({ paths, access }: Dispatched, arrived: Arrived): Promise<void> {
  const { request, response, signal } = arrived;
  const { url: target = '/', method = 'GET', headers } = request;
  const url = urlOf(target);
  if (url === null || isAmbiguous(request)) {
    // HTTP/2 has no such header.
    const headers = request.httpVersionMajor < 2 ? { connection: 'close' } : {};
    sendText(response, { code: 400, text: '400 Bad Request', headers });
    return;
  }
  const path = cleanPath(url.pathname);
  const found = paths.find(path, method, headers.accept);
  if (found.kind === 'elsewhere') redirect(arrived, found.path, url);
  // Whatever a parser makes of a path, there is one that it is checked and answered by.
  else if (path !== writtenPath(target)) redirect(arrived, path, url);
  else if (found.kind === 'nothing') sendText(response, NOT_FOUND);
  else {
    const admission = await admitted(access, arrived, path);
    if (signal.aborted) return;
    if (!admission.isAdmitted) sendText(response, admission);
    else await answer(found, arrived, { url, caller: admission.caller });
  }
}

/** Whether a request has two Host headers, or no headers at all as before HTTP/1.0. Go refuses both. */
const isAmbiguous = ({ httpVersionMajor, headersDistinct }: HttpVersion): boolean =>
  httpVersionMajor < 1 || (headersDistinct?.host?.length ?? 0) > 1;

async function answer(
  found: Extract<Found, { readonly kind: 'fixed' | 'route' }>,
  { request, response, upgrade, signal }: Arrived,
  known: { readonly url: URL; readonly caller: Caller },
): Promise<void> {
  if (found.kind === 'fixed') sendText(response, found.answer);
  else await found.route.answer({ request, response, signal, ...known, ...(upgrade ? { upgrade } : {}) });
}

const NOT_FOUND: Fixed = { code: 404, text: '404 page not found\n', headers: NOSNIFF };

/** Go's `http.Redirect`: only who reads gets a text. */
function redirect({ request, response }: Arrived, path: string, { search }: URL): void {
  const location = path + search;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const escaped = location.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);
  const text = isRead ? `<a href="${escaped}">Temporary Redirect</a>.\n\n` : '';
  const type = isRead ? { 'content-type': 'text/html; charset=utf-8' } : {};
  response.writeHead(307, { ...type, location, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** By the path that it is routed by. */
async function admitted(
  access: Dispatched['access'],
  { request, connection, signal }: Arrived,
  path: string,
): Promise<Admission> {
  if (access === undefined) return { isAdmitted: true, caller: ANYBODY };
  return access.admit({ request, path, signal, ...(connection instanceof TLSSocket ? { socket: connection } : {}) });
}
