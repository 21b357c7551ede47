/** What the page's server answers, beside its stream. */
import { messageOf } from '../base/failure.ts';
import { failure } from '../socket/status.ts';
import { assetAt, pageWith } from './assets.ts';
import { type Inspected, NotInspected } from './inspected.ts';
import type { LiveText } from './liveText.ts';

/** An answer, whole. */
export interface PageAnswer {
  readonly code: number;
  readonly type: string;
  readonly body: string | Buffer;
}

interface Answering {
  readonly inspected: Inspected;
  /** What goes on; absent of a recording. */
  readonly live: LiveText | undefined;
  /** Where the build has left the page. */
  readonly directory: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** A part of a question that is none that can be answered. */
class BadQuestion extends Error {}

/** Answers a path, of which nothing is refused any more. */
export async function pageAnswer(answering: Answering, url: URL): Promise<PageAnswer> {
  const { pathname } = url;
  try {
    if (pathname.startsWith('/api/')) return await apiAnswer(answering, url);
    if (pathname.startsWith('/assets/'))
      return await fileAnswer(answering.directory, pathname.slice('/assets/'.length));
    if (isOtherFile(pathname)) throw new NotInspected(`nothing found at ${pathname}`);
    return await htmlAnswer(answering, url);
  } catch (error) {
    if (error instanceof BadQuestion) return json(400, failure(400, 'BadRequest', error.message));
    if (error instanceof NotInspected) return json(404, failure(404, 'NotFound', error.message));
    return json(500, failure(500, 'InternalError', messageOf(error)));
  }
}

/** What browsers and robots ask for by themselves, as `/favicon.ico`. Names of pods may have dots, too. */
const isOtherFile = (pathname: string): boolean => /\.\w+$/.test(pathname) && !/^\/(?:pod|node)\//.test(pathname);

async function apiAnswer({ inspected, live, signal }: Answering, { pathname, searchParams }: URL): Promise<PageAnswer> {
  const [uid, path] = [searchParams.get('uid') ?? '', searchParams.get('path') ?? ''];
  const at = momentIn(searchParams, 'at');
  switch (pathname) {
    case '/api/snapshot':
      return live && at === undefined ? jsonText(200, live.snapshot()) : json(200, await inspected.moment(at));
    case '/api/story': {
      const [from, to] = [momentIn(searchParams, 'from'), momentIn(searchParams, 'to')];
      return json(200, await inspected.story(uid, from ?? 0, to ?? LATEST));
    }
    case '/api/rail':
      return json(200, await inspected.rail());
    case '/api/detail':
      return json(200, await inspected.detail(path, at));
    case '/api/history':
      return json(200, await inspected.actorHistory(path, at));
    case '/api/log':
      if (inspected.log === undefined) throw new NotInspected('logs are not recorded');
      return json(200, await inspected.log(path, signal));
    case '/api/object':
      return json(200, await inspected.object(uid, at));
    case '/api/entry':
      return json(
        200,
        await inspected.entry(searchParams.get('actor') ?? '', searchParams.get('source') ?? '', at ?? 0),
      );
    default:
      throw new NotInspected(`nothing found at ${pathname}`);
  }
}

/** The latest moment that a date can have, in milliseconds since the epoch. */
const LATEST = 8.64e15;

/** Milliseconds since the epoch, or as RFC 3339 has it. */
function momentIn(search: URLSearchParams, name: string): number | undefined {
  const text = search.get(name);
  if (text === null) return undefined;
  const at = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (!(Math.abs(at) <= LATEST)) throw new BadQuestion(`${name}: expected a moment, as milliseconds or in RFC 3339`);
  return at;
}

const json = (code: number, body: unknown): PageAnswer => jsonText(code, JSON.stringify(body));

const jsonText = (code: number, body: string): PageAnswer => ({ code, type: 'application/json', body });

async function fileAnswer(directory: string, name: string): Promise<PageAnswer> {
  const asset = await assetAt(directory, name);
  if (asset === undefined) throw new NotInspected(`there is no ${name}`);
  return { code: 200, type: asset.type, body: asset.bytes };
}

/** Every path that is no other is a place on the page. */
async function htmlAnswer({ inspected, live, directory }: Answering, { searchParams }: URL): Promise<PageAnswer> {
  // What its URL says of another moment the page asks for itself: this one is there at once.
  const snapshot = live?.snapshot() ?? JSON.stringify(await inspected.moment(momentIn(searchParams, 'at')));
  const page = await pageWith(directory, snapshot);
  if (page === undefined) throw new NotInspected('the page was not built: run "npm run build"');
  return { code: 200, type: 'text/html; charset=utf-8', body: page };
}
