/** Reports changes of a source's state, and each problem of its manifests once while it persists. */

import type { Clock } from '../../base/clock.ts';
import { nextSourceState, type SourceState, type SourceStep, whileLooking } from '../../machines/node/source.ts';
import type { ManifestFindings, NodeFact } from '../../machines/shared/events.ts';
import { placeOf } from './changes.ts';

interface ReporterOptions {
  readonly place: string;
  readonly everyMs?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Returns a function that reports the state of a source of pods. */
export const sourceStateReporter = (
  send: (fact: NodeFact) => void,
  source: string,
  options: ReporterOptions,
): ((step: SourceStep) => void) =>
  stepReporter((state) => send({ type: 'config.sourceChanged', source, state }), options);

/**
 * Returns a function that reports state changes. When a wait ends, the function also reports the next attempt, which
 * may take long.
 */
export function stepReporter(
  onState: (state: SourceState) => void,
  { clock, signal, ...own }: ReporterOptions,
): (step: SourceStep) => void {
  let reported: SourceState | undefined;
  let timer: unknown;
  /** The deadline of the last completed wait. A timer may fire slightly before its deadline on the clock. */
  let completedUntil: number | undefined;
  const report = (state: SourceState) => {
    clock.clearTimeout(timer);
    if (state !== reported) onState(state);
    reported = state;
  };
  signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true });
  return ({ until, ...step }) => {
    const now = clock.now();
    const wait = until === undefined || until === completedUntil ? {} : { until };
    const state = nextSourceState(reported, { ...step, ...wait }, { ...own, now });
    report(state);
    if (state.until === undefined || signal.aborted) return;
    const onWaitOver = () => {
      completedUntil = state.until;
      report(whileLooking(state));
    };
    timer = clock.setTimeout(onWaitOver, state.until - now);
  };
}

/** Called once for each problem and warning in a manifest. */
export type OnManifestProblem = (level: 'error' | 'warning', file: string, path: string, message: string) => void;

/** Returns a function that forwards facts and reports each of their problems and warnings once while it persists. */
export function problemReporter(
  onManifestProblem: OnManifestProblem | undefined,
  send: (fact: NodeFact) => void,
): (fact: NodeFact) => void {
  const reported = new Map<string, string>();
  const report = ({ problems = [], warnings = [] }: ManifestFindings, onlyPlace?: string) => {
    const findings = new Map(
      [...problems.map((each) => ['error', each] as const), ...warnings.map((each) => ['warning', each] as const)].map(
        (finding) => [JSON.stringify(finding), finding],
      ),
    );
    for (const [key, [level, { file, path, message }]] of findings) {
      if (!reported.has(key)) onManifestProblem?.(level, file, path, message);
    }
    for (const [key, place] of reported) if (onlyPlace === undefined || onlyPlace === place) reported.delete(key);
    for (const [key, [, problem]] of findings) reported.set(key, placeOf(problem));
  };
  return (fact) => {
    if (fact.type === 'config.podsListed' || fact.type === 'config.sourceUnread') report(fact);
    if (fact.type === 'config.problemsChanged') report(fact, placeOf(fact));
    send(fact);
  };
}
