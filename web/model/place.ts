/** Where one is on the page, as its URL says it: which actor, which moment, which view. */
import { utcMoment } from './time.ts';

/** A view of the page; its parts that are absent are as the page begins. */
export interface Place {
  /** The words of the path: `['pod', 'shop', 'checkout-api', 'container', 'api']`, `['node', 'startLimiter']`; empty: the worst pod. */
  readonly steps: readonly string[];
  /** Milliseconds since the epoch; absent: live. */
  readonly at?: number;
  /** Tells pods of one name apart. */
  readonly uid?: string;
  /** What the tree is filtered by. */
  readonly query?: string;
  readonly view: 'region' | 'whole';
  readonly story: 'time' | 'steps';
  /** The pod page is open. */
  readonly isPodPage: boolean;
}

/** The place that a URL's path and query name. What they hold beside is left out. */
export function placeOf(url: URL): Place {
  const { searchParams } = url;
  const views = (searchParams.get('view') ?? '').split(' ');
  const at = utcMoment(searchParams.get('at') ?? '');
  const uid = searchParams.get('uid');
  const query = searchParams.get('q');
  return {
    steps: url.pathname.split('/').filter(Boolean).map(decoded),
    ...(at === undefined ? {} : { at }),
    ...(uid ? { uid } : {}),
    ...(query ? { query } : {}),
    view: views.includes('whole') ? 'whole' : 'region',
    story: views.includes('steps') ? 'steps' : 'time',
    isPodPage: views.includes('pod'),
  };
}

/** A part that is no encoding of anything is taken as it is. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** The path and query of a place. */
export function urlOf({ steps, at, uid, query, view, story, isPodPage }: Place): string {
  const views = [view === 'whole' && 'whole', story === 'steps' && 'steps', isPodPage && 'pod'].filter(Boolean);
  const search = new URLSearchParams({
    ...(at === undefined ? {} : { at: new Date(at).toISOString() }),
    ...(uid === undefined ? {} : { uid }),
    ...(query === undefined ? {} : { q: query }),
    ...(views.length > 0 ? { view: views.join(' ') } : {}),
  }).toString();
  return `/${steps.map(encodeURIComponent).join('/')}${search ? `?${search}` : ''}`;
}
