/** What a source tells of itself and of its manifests: each thing once, for as long as it stands. */

import type { Clock } from '../../base/clock.ts';
import { nextSourceState, type SourceState, type SourceStep, whileLooking } from '../../machines/node/source.ts';
import type { ManifestFindings, NodeFact } from '../../machines/shared/events.ts';
import { placeOf } from './changes.ts';

interface Telling {
  readonly place: string;
  readonly everyMs?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Tells how a source gets on. */
export const tellingState = (
  send: (fact: NodeFact) => void,
  source: string,
  telling: Telling,
): ((step: SourceStep) => void) =>
  tellingSteps((state) => send({ type: 'config.sourceChanged', source, state }), telling);

/** Tells how what is followed gets on, where that is news; and when its wait is over, as what it does then may take long. */
export function tellingSteps(
  onState: (state: SourceState) => void,
  { clock, signal, ...own }: Telling,
): (step: SourceStep) => void {
  let reported: SourceState | undefined;
  let timer: unknown;
  /** The end of the last wait that was over: a timer may be a moment ahead of the clock. */
  let over: number | undefined;
  const tell = (state: SourceState) => {
    clock.clearTimeout(timer);
    if (state !== reported) onState(state);
    reported = state;
  };
  signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true });
  return ({ until, ...step }) => {
    const now = clock.now();
    const wait = until === undefined || until === over ? {} : { until };
    const state = nextSourceState(reported, { ...step, ...wait }, { ...own, now });
    tell(state);
    if (state.until === undefined || signal.aborted) return;
    const look = () => {
      over = state.until;
      tell(whileLooking(state));
    };
    timer = clock.setTimeout(look, state.until - now);
  };
}

/** Told of each problem and warning in a manifest once. */
export type OnManifestProblem = (level: 'error' | 'warning', file: string, path: string, message: string) => void;

/** Sends facts on, and tells each problem and warning in them once for as long as it stands. */
export function tellingProblems(
  onManifestProblem: OnManifestProblem | undefined,
  send: (fact: NodeFact) => void,
): (fact: NodeFact) => void {
  const reported = new Map<string, string>();
  const tell = ({ problems = [], warnings = [] }: ManifestFindings, only?: string) => {
    const found = new Map(
      [...problems.map((each) => ['error', each] as const), ...warnings.map((each) => ['warning', each] as const)].map(
        (finding) => [JSON.stringify(finding), finding],
      ),
    );
    for (const [key, [level, { file, path, message }]] of found) {
      if (!reported.has(key)) onManifestProblem?.(level, file, path, message);
    }
    for (const [key, place] of reported) if (only === undefined || only === place) reported.delete(key);
    for (const [key, [, problem]] of found) reported.set(key, placeOf(problem));
  };
  return (fact) => {
    if (fact.type === 'config.podsListed' || fact.type === 'config.sourceUnread') tell(fact);
    if (fact.type === 'config.problemsChanged') tell(fact, placeOf(fact));
    send(fact);
  };
}
