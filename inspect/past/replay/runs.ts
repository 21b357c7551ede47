/** Collects the completed runs of a container from the statuses of its pod. */
import type { ContainerStatus, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import type { TriedRun } from '../../protocol.ts';

const MAX_RUNS = 10;

interface CompletedRun extends Omit<TriedRun, 'waitedMs'> {
  readonly endedAt: number;
}

/** Collects runs from statuses, which must be in chronological order. */
export class Runs {
  readonly #container: string | undefined;
  readonly #completed = new Map<string, CompletedRun>();
  #startedAt: number | undefined;

  /** If `container` is undefined, no runs are collected. */
  constructor(container: string | undefined) {
    this.#container = container;
  }

  addStatus(status: PodStatus | undefined): void {
    const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const own = statuses.find(({ name }) => name === this.#container);
    if (own === undefined) return;
    // Add one while the container waits to be created again, because the restart count increases only on creation.
    this.#addRun(own.lastState?.terminated, own.restartCount + (own.state?.waiting ? 1 : 0));
    this.#addRun(own.state?.terminated, own.restartCount + 1);
    const startedAt = own.state?.running?.startedAt ?? undefined;
    this.#startedAt = startedAt === undefined ? undefined : Date.parse(startedAt);
  }

  /** Adds the runs from before the collection started. */
  addEarlier(runs: readonly TriedRun[]): void {
    for (const { waitedMs: _, ...run } of runs)
      if (!this.#completed.has(runKey(run)))
        this.#completed.set(runKey(run), { ...run, endedAt: run.startedAt + run.ranMs });
  }

  /** Returns the runs from latest to earliest. */
  completedRuns(): readonly TriedRun[] {
    const runs = [...this.#completed.values()].sort(
      (left, right) => left.startedAt - right.startedAt || left.run - right.run,
    );
    return runs
      .map(({ endedAt, ...run }, index): TriedRun => {
        const nextStartedAt = runs[index + 1]?.startedAt ?? this.#startedAt;
        return { ...run, ...(nextStartedAt === undefined ? {} : { waitedMs: Math.max(0, nextStartedAt - endedAt) }) };
      })
      .reverse()
      .slice(0, MAX_RUNS);
  }

  #addRun(terminatedState: NonNullable<ContainerStatus['state']>['terminated'], run: number): void {
    const { startedAt, finishedAt, exitCode, reason = '' } = terminatedState ?? {};
    const to = Date.parse(finishedAt ?? '');
    const startedTime = Date.parse(startedAt ?? '');
    // Use the end time as the start time of a container that could not be started, because the runtime reports its zero
    // time for it.
    const from = startedTime === 0 ? to : startedTime;
    if (exitCode === undefined || Number.isNaN(from) || Number.isNaN(to)) return;
    const completedRun = { run, startedAt: from, endedAt: to, ranMs: to - from, exitCode, reason };
    this.#completed.set(runKey(completedRun), completedRun);
  }
}

/**
 * Returns a unique key of a run. The start time alone is not unique, because it has a resolution of one second, in
 * which a container may run twice.
 */
const runKey = ({ run, startedAt }: Pick<TriedRun, 'run' | 'startedAt'>): string => `${run} ${startedAt}`;
