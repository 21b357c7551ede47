/** Converts the page's location, i.e. the selected actor, the time and the view, to its URL and back. */
import { parseUtcTime } from '../rail/time.ts';

/** A location on the page. An undefined field denotes the default. */
export interface PageLocation {
  /**
   * The segments of the URL path, e.g. `['pod', 'shop', 'checkout-api', 'container', 'api']` or `['node',
   * 'startLimiter']`. Empty to select the pod with the most severe state.
   */
  readonly steps: readonly string[];
  /** The displayed time in milliseconds since the epoch. Undefined for the live view. */
  readonly at?: number;
  /** UID of the pod, which distinguishes pods with the same name. */
  readonly uid?: string;
  /** Filter of the tree. */
  readonly query?: string;
  readonly view: 'region' | 'whole';
  readonly story: 'time' | 'steps';
  /** Whether the pod page is open. */
  readonly isPodPage: boolean;
}

/** Parses the location from a URL. Unknown parameters are ignored. */
export function parseLocation(url: URL): PageLocation {
  const { searchParams } = url;
  const views = (searchParams.get('view') ?? '').split(' ');
  const at = parseUtcTime(searchParams.get('at') ?? '');
  const uid = searchParams.get('uid');
  const query = searchParams.get('q');
  return {
    steps: url.pathname.split('/').filter(Boolean).map(decodeSegment),
    ...(at === undefined ? {} : { at }),
    ...(uid ? { uid } : {}),
    ...(query ? { query } : {}),
    view: views.includes('whole') ? 'whole' : 'region',
    story: views.includes('steps') ? 'steps' : 'time',
    isPodPage: views.includes('pod'),
  };
}

/** Decodes a segment. Malformed escapes remain unchanged. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the path and query of a location. */
export function formatUrl({ steps, at, uid, query, view, story, isPodPage }: PageLocation): string {
  const views = [view === 'whole' && 'whole', story === 'steps' && 'steps', isPodPage && 'pod'].filter(Boolean);
  const search = new URLSearchParams({
    ...(at === undefined ? {} : { at: new Date(at).toISOString() }),
    ...(uid === undefined ? {} : { uid }),
    ...(query === undefined ? {} : { q: query }),
    ...(views.length > 0 ? { view: views.join(' ') } : {}),
  }).toString();
  return `/${steps.map(encodeURIComponent).join('/')}${search ? `?${search}` : ''}`;
}
