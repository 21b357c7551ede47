/**
 * Adds the node's own API to the explanation of the node: open sessions, metrics scrapes and authorization requests.
 */
import type { Failure } from '../base/failure.ts';
import { lookUp } from '../base/lookUp.ts';
import { SERVER } from './actorNode.ts';
import type { ExplainedActor } from './explain.ts';
import { type NodeExplanation, ownPart, withPart } from './explainNode.ts';

/** A long-lived client connection, such as `exec` or `port-forward`. Times are in milliseconds since the epoch. */
interface ServedSession {
  readonly id: number;
  readonly kind: string;
  readonly namespace: string;
  readonly pod: string;
  /** Empty for port forwarding. */
  readonly container: string;
  readonly caller: string;
  readonly since: number;
}

/** Requests for one metrics path, with the latest caller. */
interface ServedScrape {
  readonly path: string;
  readonly count: number;
  readonly failed: number;
  readonly at: number;
  readonly caller: string;
}

/** Counts of TokenReview or SubjectAccessReview requests to the API server. */
export interface ServedReviews {
  readonly made: number;
  readonly cached: number;
  readonly shared: number;
  readonly failed: number;
  readonly underWay: number;
  /** The most recent failure. */
  readonly lastFailure?: Failure | undefined;
  /** Time of the first of the current consecutive failures. Undefined after a success. */
  readonly failingSince?: number | undefined;
}

/** State of the node's own API. */
export interface ServedView {
  /** Time at which the API started to listen, or first tried to. */
  readonly since: number;
  /** 0 while the API is not listening. */
  readonly port: number;
  /** Reason why the API is not listening. */
  readonly lastFailure?: Failure | undefined;
  /** Sorted by start time, the oldest first. */
  readonly sessions: readonly ServedSession[];
  readonly scrapes: readonly ServedScrape[];
  /** Keyed by kind of review. Empty if the node does not consult the API server. */
  readonly reviews: Readonly<Record<string, ServedReviews>>;
}

/** Adds the node's own API, if it has one, to an explanation. */
export function withServing(explanation: NodeExplanation, view: ServedView | undefined): NodeExplanation {
  if (view === undefined) return explanation;
  const { port, since, lastFailure } = view;
  const isServed = port !== 0;
  const own = ownPart(SERVER, {
    ...(isServed ? { state: 'serving', tags: ['steady'] } : { state: 'retrying', tags: ['retrying'] }),
    ...(isServed ? {} : { waitingFor: 'another attempt to serve' }),
    since,
    ...(lastFailure === undefined || isServed ? {} : { lastFailure }),
  });
  const children = [...reviewsOf(view), ...view.scrapes.map((each) => scrapePart(each)), ...sessionsOf(view)];
  const facts = [...(isServed ? [`port ${port}`] : []), ...countOf(view.sessions.length)];
  const answer = `${explanation.answer}${troubleOf(view, explanation.at)}`;
  return withPart({ ...explanation, answer }, { ...own, facts, children });
}

const countOf = (sessions: number): string[] =>
  sessions === 0 ? [] : [`${sessions} ${sessions === 1 ? 'session' : 'sessions'}`];

/**
 * Maximum age of a failure that is reported, in milliseconds. The API server may have recovered since an older failure.
 */
const RECENT_MS = 60_000;

function troubleOf({ port, lastFailure, reviews }: ServedView, now: number): string {
  if (port === 0) return lastFailure === undefined ? '' : `; its API is not served: ${lastFailure.message}`;
  const failures = Object.values(reviews).map(({ failingSince, lastFailure: last }) => failingSince && last);
  const failing = failures.find((last) => last && now - last.at < RECENT_MS) || undefined;
  return failing === undefined ? '' : `; it cannot ask who may use its API: ${failing.message}`;
}

/** Maximum number of sessions that are listed. The rest is shown as a count. */
const MOST_SESSIONS = 50;

function sessionsOf({ sessions }: ServedView): ExplainedActor[] {
  const shown = sessions.slice(0, MOST_SESSIONS).map(sessionPart);
  const oldest = sessions[MOST_SESSIONS];
  if (oldest === undefined) return shown;
  const state = { state: 'open', tags: ['steady'], since: oldest.since };
  const more = {
    ...part('session/more', 'sessions', 'more', state),
    facts: [`${sessions.length - MOST_SESSIONS} more`],
  };
  return [...shown, more];
}

const SESSION_KINDS = { portForward: 'port-forward', logs: 'log' };

function sessionPart({ id, kind, namespace, pod, container, caller, since }: ServedSession): ExplainedActor {
  const words = lookUp<string>(SESSION_KINDS, kind) ?? kind;
  const state = { state: kind === 'logs' ? 'followed' : 'joined', tags: ['steady'], since };
  const where = `${namespace}/${pod}${container === '' ? '' : ` (${container})`}`;
  return { ...part(`session/${id}`, words, pod, state), facts: [where, `by ${caller}`] };
}

/** Creates the entry of a metrics path. The age of its state is the time since the last request. */
function scrapePart({ path, count, failed, at, caller }: ServedScrape): ExplainedActor {
  const state = { state: 'answered', tags: ['steady'], since: at };
  const facts = [times(count), ...(failed > 0 ? [`${failed} failed`] : []), `by ${caller}`];
  return { ...part(`scrape${path}`, 'scrape', path, state), facts };
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const reviewsOf = ({ reviews, since }: ServedView): ExplainedActor[] =>
  Object.entries(reviews).map(([about, { made, cached, shared, failed, underWay, lastFailure, failingSince }]) => {
    const isFailing = failingSince !== undefined;
    const state = isFailing
      ? { state: 'failing', tags: ['retrying'], since: failingSince }
      : { state: 'answered', tags: ['steady'], since };
    return {
      ...part(`review/${about}`, 'review', about, { ...state, ...(lastFailure ? { lastFailure } : {}) }),
      facts: [
        `${made} asked`,
        `${cached + shared} from the cache`,
        ...(failed > 0 ? [`${failed} failed`] : []),
        ...(underWay > 0 ? [`${underWay} under way`] : []),
      ],
    };
  });

function part(id: string, kind: string, name: string, state: Parameters<typeof ownPart>[1]): ExplainedActor {
  const path = `${SERVER}/${id}`;
  return { ...ownPart(name, state), id, path, kind, machine: SERVER };
}
