/** Answers a request: finds its path, has its client checked, and gives it to the route. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { messageOf } from '../../pod/failure.ts';
import type { Access, Admission } from '../access/access.ts';
import { type Fixed, NOSNIFF, sendError, sendText } from '../answers.ts';
import type { Caller, Upgrade } from '../exchange.ts';
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
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upgrade?: Upgrade;
  readonly signal: AbortSignal;
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
  if (url === null || isDoubtful(request)) {
    sendText(response, { code: 400, text: '400 Bad Request', headers: { connection: 'close' } });
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

/** Of two hosts nobody knows which is meant; what has no headers is of before HTTP/1.0. Go reads neither. */
const isDoubtful = ({ httpVersionMajor, headersDistinct }: IncomingMessage): boolean =>
  httpVersionMajor < 1 || (headersDistinct.host?.length ?? 0) > 1;

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
async function admitted(access: Dispatched['access'], { request, signal }: Arrived, path: string): Promise<Admission> {
  if (access === undefined) return { isAdmitted: true, caller: ANYBODY };
  const { socket } = request;
  return access.admit({ request, path, signal, ...(socket instanceof TLSSocket ? { socket } : {}) });
}
