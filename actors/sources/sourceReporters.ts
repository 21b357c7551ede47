/**
 * Reports changes of a source's state. Also reports each problem of the source's manifests, and does not repeat it
 * while it persists.
 */

import type { Clock } from '../../base/time/clock.ts';
import { nextSourceState, readingState, type SourceChange, type SourceState } from '../../machines/node/pods/source.ts';
import type { ManifestFindings, NodeFact } from '../../machines/shared/events/events.ts';
import { findingKey } from './changeDetector.ts';

interface ReporterOptions {
  readonly sourceName: string;
  readonly everyMs?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Returns a function that reports the state of a source of pods. */
export const sourceStateReporter = (
  sendFact: (fact: NodeFact) => void,
  source: string,
  options: ReporterOptions,
): ((step: SourceChange) => void) =>
  createStepReporter((state) => sendFact({ type: 'config.sourceChanged', source, state }), options);

/**
 * Returns a function that reports state changes. After a wait, it also reports the next attempt, because the attempt
 * may take a long time.
 */
export function createStepReporter(
  onState: (state: SourceState) => void,
  { clock, signal, sourceName, ...own }: ReporterOptions,
): (step: SourceChange) => void {
  let lastReported: SourceState | undefined;
  let timer: unknown;
  /**
   * The deadline of the last completed wait. It is remembered because a timer may fire slightly before the clock
   * reaches the deadline.
   */
  let completedDeadline: number | undefined;
  const reportState = (state: SourceState) => {
    clock.clearTimeout(timer);
    if (state !== lastReported) onState(state);
    lastReported = state;
  };
  signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true });
  return ({ until, ...step }) => {
    const now = clock.now();
    const waitFields = until === undefined || until === completedDeadline ? {} : { until };
    const state = nextSourceState(lastReported, { ...step, ...waitFields }, { place: sourceName, ...own, now });
    reportState(state);
    if (state.until === undefined || signal.aborted) return;
    const onWaitElapsed = () => {
      completedDeadline = state.until;
      reportState(readingState(state));
    };
    timer = clock.setTimeout(onWaitElapsed, state.until - now);
  };
}

/** Called once for each problem and warning in a manifest. */
export type OnManifestProblem = (level: 'error' | 'warning', file: string, path: string, message: string) => void;

/**
 * Returns a function that forwards facts. It also reports each problem and warning in the facts, and does not repeat
 * one while it persists.
 */
export function problemReporter(
  onManifestProblem: OnManifestProblem | undefined,
  sendFact: (fact: NodeFact) => void,
): (fact: NodeFact) => void {
  const reportedByKey = new Map<string, string>();
  const reportFindings = ({ problems = [], warnings = [] }: ManifestFindings, onlyKey?: string) => {
    const findings = new Map(
      [...problems.map((each) => ['error', each] as const), ...warnings.map((each) => ['warning', each] as const)].map(
        (finding) => [JSON.stringify(finding), finding],
      ),
    );
    for (const [key, [level, { file, path, message }]] of findings) {
      if (!reportedByKey.has(key)) onManifestProblem?.(level, file, path, message);
    }
    for (const [key, findingsKey] of reportedByKey)
      if (onlyKey === undefined || onlyKey === findingsKey) reportedByKey.delete(key);
    for (const [key, [, problem]] of findings) reportedByKey.set(key, findingKey(problem));
  };
  return (fact) => {
    if (fact.type === 'config.podsListed' || fact.type === 'config.sourceUnread') reportFindings(fact);
    if (fact.type === 'config.problemsChanged') reportFindings(fact, findingKey(fact));
    sendFact(fact);
  };
}
