/**
 * Adds the node's own API to the explanation of the node, including open sessions, metrics scrapes and authorization
 * requests.
 */
import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { NODE_API_ID } from '../actors/actorNode.ts';
import type { ExplainedActor } from '../explain.ts';
import { type NodeExplanation, nodePart, withPart } from './explainNode.ts';

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

/** Statistics of the requests for one metrics path, with the latest caller. */
interface ServedScrape {
  readonly path: string;
  readonly count: number;
  readonly failed: number;
  readonly at: number;
  readonly caller: string;
}

/** Counts of TokenReview or SubjectAccessReview requests to the API server. */
export interface ServedReviews {
  readonly requested: number;
  readonly cached: number;
  readonly shared: number;
  readonly failed: number;
  readonly underWay: number;
  readonly lastFailure?: Failure | undefined;
  /** Time of the first failure since the last success. Undefined after a success. */
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
  const apiRoot = nodePart(NODE_API_ID, {
    ...(isServed ? { state: 'serving', tags: ['steady'] } : { state: 'retrying', tags: ['retrying'] }),
    ...(isServed ? {} : { waitingFor: 'another attempt to serve' }),
    since,
    ...(lastFailure === undefined || isServed ? {} : { lastFailure }),
  });
  const children = [...reviewParts(view), ...view.scrapes.map((each) => scrapePart(each)), ...sessionParts(view)];
  const apiFacts = [...(isServed ? [`port ${port}`] : []), ...sessionFacts(view.sessions.length)];
  const answer = `${explanation.answer}${apiProblem(view, explanation.at)}`;
  return withPart({ ...explanation, answer }, { ...apiRoot, facts: apiFacts, children });
}

const sessionFacts = (sessions: number): string[] =>
  sessions === 0 ? [] : [`${sessions} ${sessions === 1 ? 'session' : 'sessions'}`];

/**
 * Maximum age of a failure that is reported, in milliseconds. The API server may have recovered since an older failure.
 */
const RECENT_FAILURE_MS = 60_000;

function apiProblem({ port, lastFailure, reviews }: ServedView, now: number): string {
  if (port === 0) return lastFailure === undefined ? '' : `; its API is not served: ${lastFailure.message}`;
  const recentFailures = Object.values(reviews).map(
    ({ failingSince, lastFailure: failure }) => failingSince && failure,
  );
  const recentFailure = recentFailures.find((failure) => failure && now - failure.at < RECENT_FAILURE_MS) || undefined;
  return recentFailure === undefined ? '' : `; it cannot ask who may use its API: ${recentFailure.message}`;
}

/** Maximum number of sessions that are listed. The remaining ones are shown as a count. */
const MAX_SESSIONS = 50;

function sessionParts({ sessions }: ServedView): ExplainedActor[] {
  const visibleSessions = sessions.slice(0, MAX_SESSIONS).map(sessionPart);
  const firstHidden = sessions[MAX_SESSIONS];
  if (firstHidden === undefined) return visibleSessions;
  const state = { state: 'open', tags: ['steady'], since: firstHidden.since };
  const hiddenSessions = {
    ...apiPart('session/more', 'sessions', 'more', state),
    facts: [`${sessions.length - MAX_SESSIONS} more`],
  };
  return [...visibleSessions, hiddenSessions];
}

const SESSION_KINDS = { portForward: 'port-forward', logs: 'log' };

function sessionPart({ id, kind, namespace, pod, container, caller, since }: ServedSession): ExplainedActor {
  const kindText = lookUp<string>(SESSION_KINDS, kind) ?? kind;
  const state = { state: kind === 'logs' ? 'followed' : 'joined', tags: ['steady'], since };
  const target = `${namespace}/${pod}${container === '' ? '' : ` (${container})`}`;
  return { ...apiPart(`session/${id}`, kindText, pod, state), facts: [target, `by ${caller}`] };
}

/** Creates the entry of a metrics path. The age of its state is the time since the last request. */
function scrapePart({ path, count, failed, at, caller }: ServedScrape): ExplainedActor {
  const state = { state: 'answered', tags: ['steady'], since: at };
  const facts = [countText(count), ...(failed > 0 ? [`${failed} failed`] : []), `by ${caller}`];
  return { ...apiPart(`scrape${path}`, 'scrape', path, state), facts };
}

const countText = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const reviewParts = ({ reviews, since }: ServedView): ExplainedActor[] =>
  Object.entries(reviews).map(
    ([reviewKind, { requested, cached, shared, failed, underWay, lastFailure, failingSince }]) => {
      const isFailing = failingSince !== undefined;
      const state = isFailing
        ? { state: 'failing', tags: ['retrying'], since: failingSince }
        : { state: 'answered', tags: ['steady'], since };
      return {
        ...apiPart(`review/${reviewKind}`, 'review', reviewKind, { ...state, ...(lastFailure ? { lastFailure } : {}) }),
        facts: [
          `${requested} requested`,
          `${cached + shared} from the cache`,
          ...(failed > 0 ? [`${failed} failed`] : []),
          ...(underWay > 0 ? [`${underWay} under way`] : []),
        ],
      };
    },
  );

function apiPart(id: string, kind: string, name: string, state: Parameters<typeof nodePart>[1]): ExplainedActor {
  const path = `${NODE_API_ID}/${id}`;
  return { ...nodePart(name, state), id, path, kind, machine: NODE_API_ID };
}
