import type { Logger } from 'pino';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { isAgentInCgroup, moveAgentToCgroup } from '../../host/cgroup/agentCgroup.ts';
import { readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { applyOomScoreAdj } from '../../host/oomScoreAdj.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

interface AgentPlacementDependencies {
  readonly resources: Pick<NodeConfig['resources'], 'kubeletCgroups' | 'oomScoreAdj'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
  /** Moves the agent's process to the cgroup with the given name. Returns the reason if that fails. */
  readonly moveToCgroup?: (name: string) => Promise<string | undefined>;
  readonly isInCgroup?: (name: string) => boolean;
  readonly applyScore?: (score: number) => Promise<string | undefined>;
}

/**
 * Interval in milliseconds between two calls of `apply` if the agent has a cgroup of its own, as in the kubelet
 * (`containerManagerImpl.Start`).
 */
const CHECK_WITH_CGROUP_MS = 60_000;
/** Interval in milliseconds between two calls of `apply` if the agent has no cgroup of its own, as in the kubelet. */
const CHECK_WITHOUT_CGROUP_MS = 300_000;

/** Moves the agent's process to its cgroup and sets its OOM score. Restores both after external changes. */
export class AgentPlacement {
  readonly #dependencies: Required<AgentPlacementDependencies>;
  /** Problems that have been logged and still exist. */
  #problems: ReadonlySet<string> = new Set();
  #timer: unknown;

  constructor(dependencies: AgentPlacementDependencies) {
    this.#dependencies = {
      moveToCgroup: moveAgent,
      isInCgroup: isAgentInCgroup,
      applyScore: applyOomScoreAdj,
      ...dependencies,
    };
  }

  /**
   * Moves the process to the agent's cgroup, unless none is configured or the process is already in it. Then sets the
   * oom_score_adj of the process.
   */
  async apply(): Promise<void> {
    const { resources, logger, isInCgroup, moveToCgroup: moveTo, applyScore } = this.#dependencies;
    const { kubeletCgroups: name, oomScoreAdj } = resources;
    // Handle rejections here, because `repeat` runs this method in the background, where an unhandled rejection would
    // terminate the process.
    const describeMoveError = (error: unknown) => `the agent cannot move to the cgroup ${name}: ${messageOf(error)}`;
    const moveFailure = name && !isInCgroup(name) ? await moveTo(name).catch(describeMoveError) : undefined;
    const scoreProblem = await applyScore(oomScoreAdj);
    if (moveFailure && !this.#problems.has(moveFailure)) logger.warn(moveFailure);
    if (scoreProblem && !this.#problems.has(scoreProblem)) logger.info(scoreProblem);
    this.#problems = new Set([moveFailure, scoreProblem].filter((problem) => problem !== undefined));
  }

  /** Repeats `apply` until the returned function is called. */
  repeat(): () => void {
    const { clock, resources } = this.#dependencies;
    const intervalMs = resources.kubeletCgroups ? CHECK_WITH_CGROUP_MS : CHECK_WITHOUT_CGROUP_MS;
    let wasStopped = false;
    const scheduleCheck = () => {
      this.#timer = clock.setTimeout(() => {
        void this.apply().finally(() => {
          if (!wasStopped) scheduleCheck();
        });
      }, intervalMs);
    };
    scheduleCheck();
    return () => {
      wasStopped = true;
      clock.clearTimeout(this.#timer);
    };
  }
}

const moveAgent = async (name: string): Promise<string | undefined> =>
  moveAgentToCgroup(name, { hierarchies: await readHierarchies() });
