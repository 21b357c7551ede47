/** Implements the routes of the page's server, except for the stream of live updates. */
import { messageOf } from '../base/failure.ts';
import { failureStatus } from '../socket/status.ts';
import { readAsset, readPage } from './assets.ts';
import { type InspectedNode, NotInspected } from './inspected.ts';
import type { LiveText } from './live/liveText.ts';

export interface PageResponse {
  readonly code: number;
  readonly type: string;
  readonly body: string | Buffer;
}

interface RequestContext {
  readonly inspectedNode: InspectedNode;
  /** The live updates. Undefined for a recording. */
  readonly live: LiveText | undefined;
  /** The output directory of the page's build. */
  readonly directory: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Thrown if a request has an invalid parameter. */
class InvalidParameter extends Error {}

/** Responds to an authorized request. */
export async function respondToPage(context: RequestContext, url: URL): Promise<PageResponse> {
  const { pathname } = url;
  try {
    if (pathname.startsWith('/api/')) return await respondToApi(context, url);
    if (pathname.startsWith('/assets/'))
      return await respondWithFile(context.directory, pathname.slice('/assets/'.length));
    if (isUnknownFile(pathname)) throw new NotInspected(`nothing found at ${pathname}`);
    return await respondWithPage(context, url);
  } catch (error) {
    if (error instanceof InvalidParameter) return jsonResponse(400, failureStatus(400, 'BadRequest', error.message));
    if (error instanceof NotInspected) return jsonResponse(404, failureStatus(404, 'NotFound', error.message));
    return jsonResponse(500, failureStatus(500, 'InternalError', messageOf(error)));
  }
}

/**
 * Whether the path names a file that browsers and crawlers request automatically, e.g. `/favicon.ico`. Excludes the
 * paths of pods, whose names may also contain dots.
 */
const isUnknownFile = (pathname: string): boolean => /\.\w+$/.test(pathname) && !/^\/(?:pod|node)\//.test(pathname);

async function respondToApi(
  { inspectedNode, live, signal }: RequestContext,
  { pathname, searchParams }: URL,
): Promise<PageResponse> {
  const [uid, path] = [searchParams.get('uid') ?? '', searchParams.get('path') ?? ''];
  const at = timeParameter(searchParams, 'at');
  switch (pathname) {
    case '/api/snapshot':
      return live && at === undefined
        ? jsonTextResponse(200, live.snapshot())
        : jsonResponse(200, await inspectedNode.moment(at));
    case '/api/story': {
      const [from, to] = [timeParameter(searchParams, 'from'), timeParameter(searchParams, 'to')];
      return jsonResponse(200, await inspectedNode.story(uid, from ?? 0, to ?? MAX_DATE_MS));
    }
    case '/api/rail':
      return jsonResponse(200, await inspectedNode.rail());
    case '/api/detail':
      return jsonResponse(200, await inspectedNode.detail(path, at));
    case '/api/history':
      return jsonResponse(200, await inspectedNode.actorHistory(path, at));
    case '/api/log':
      if (inspectedNode.log === undefined) throw new NotInspected('logs are not recorded');
      return jsonResponse(200, await inspectedNode.log(path, signal));
    case '/api/object':
      return jsonResponse(200, await inspectedNode.object(uid, at));
    case '/api/entry':
      return jsonResponse(
        200,
        await inspectedNode.entry(searchParams.get('actor') ?? '', searchParams.get('source') ?? '', at ?? 0),
      );
    default:
      throw new NotInspected(`nothing found at ${pathname}`);
  }
}

/** The latest time that a Date can represent, in milliseconds since the epoch. */
const MAX_DATE_MS = 8.64e15;

/** Returns a time parameter, which is given in milliseconds since the epoch or in RFC 3339. */
function timeParameter(search: URLSearchParams, name: string): number | undefined {
  const timestampText = search.get(name);
  if (timestampText === null) return undefined;
  const at = /^\d+$/.test(timestampText) ? Number(timestampText) : Date.parse(timestampText);
  if (!(Math.abs(at) <= MAX_DATE_MS))
    throw new InvalidParameter(`${name}: expected a moment, as milliseconds or in RFC 3339`);
  return at;
}

const jsonResponse = (code: number, body: unknown): PageResponse => jsonTextResponse(code, JSON.stringify(body));

const jsonTextResponse = (code: number, body: string): PageResponse => ({ code, type: 'application/json', body });

async function respondWithFile(directory: string, name: string): Promise<PageResponse> {
  const asset = await readAsset(directory, name);
  if (asset === undefined) throw new NotInspected(`there is no ${name}`);
  return { code: 200, type: asset.type, body: asset.bytes };
}

/** Serves the page on all remaining paths, because the page's script does the routing. */
async function respondWithPage(
  { inspectedNode, live, directory }: RequestContext,
  { searchParams }: URL,
): Promise<PageResponse> {
  // Embed the current snapshot to save the page a request. If the URL selects a different time, the page requests the
  // snapshot of that time itself.
  const snapshot = live?.snapshot() ?? JSON.stringify(await inspectedNode.moment(timeParameter(searchParams, 'at')));
  const page = await readPage(directory, snapshot);
  if (page === undefined) throw new NotInspected('the page was not built: run "npm run build"');
  return { code: 200, type: 'text/html; charset=utf-8', body: page };
}
