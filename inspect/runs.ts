/** What a container has tried: its runs that have ended, as its pod's statuses told of them. */
import type { ContainerStatus, PodStatus } from '../kubernetes/api/schema/status.ts';
import type { TriedRun } from './protocol.ts';

/** So many are shown. */
const MOST_RUNS = 10;

interface EndedRun extends Omit<TriedRun, 'waitedMs'> {
  readonly endedAt: number;
}

/** Learns from one status after the other, the earliest first. */
export class Runs {
  readonly #container: string | undefined;
  readonly #ended = new Map<string, EndedRun>();
  #startedAt: number | undefined;

  /** Without a container it learns nothing. */
  constructor(container: string | undefined) {
    this.#container = container;
  }

  learn(status: PodStatus | undefined): void {
    const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const own = all.find(({ name }) => name === this.#container);
    if (own === undefined) return;
    // One that waits to be made again is not counted before it is.
    this.#note(own.lastState?.terminated, own.restartCount + (own.state?.waiting ? 1 : 0));
    this.#note(own.state?.terminated, own.restartCount + 1);
    const startedAt = own.state?.running?.startedAt ?? undefined;
    this.#startedAt = startedAt === undefined ? undefined : Date.parse(startedAt);
  }

  /** What is known of the time before. */
  addEarlier(runs: readonly TriedRun[]): void {
    for (const { waitedMs: _, ...run } of runs)
      if (!this.#ended.has(keyOf(run))) this.#ended.set(keyOf(run), { ...run, endedAt: run.startedAt + run.ranMs });
  }

  /** The latest first. */
  tried(): readonly TriedRun[] {
    const runs = [...this.#ended.values()].sort((one, other) => one.startedAt - other.startedAt || one.run - other.run);
    return runs
      .map(({ endedAt, ...run }, index): TriedRun => {
        const next = runs[index + 1]?.startedAt ?? this.#startedAt;
        return { ...run, ...(next === undefined ? {} : { waitedMs: Math.max(0, next - endedAt) }) };
      })
      .reverse()
      .slice(0, MOST_RUNS);
  }

  #note(ended: NonNullable<ContainerStatus['state']>['terminated'], run: number): void {
    const { startedAt, finishedAt, exitCode, reason = '' } = ended ?? {};
    const to = Date.parse(finishedAt ?? '');
    const started = Date.parse(startedAt ?? '');
    // A container that could not be started has the zero time of the runtime.
    const from = started === 0 ? to : started;
    if (exitCode === undefined || Number.isNaN(from) || Number.isNaN(to)) return;
    const known = { run, startedAt: from, endedAt: to, ranMs: to - from, exitCode, reason };
    this.#ended.set(keyOf(known), known);
  }
}

/** Statuses have whole seconds: the first restart is in the same one. */
const keyOf = ({ run, startedAt }: Pick<TriedRun, 'run' | 'startedAt'>): string => `${run} ${startedAt}`;
