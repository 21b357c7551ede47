/** The cgroup and the OOM score of the agent's own process, which are restored if somebody changes them. */
import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { isAgentIn, moveAgentTo } from '../../host/cgroup/agentCgroup.ts';
import { readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { applyOomScoreAdj } from '../../host/oomScoreAdj.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

interface PlacementParts {
  readonly resources: Pick<NodeConfig['resources'], 'kubeletCgroups' | 'oomScoreAdj'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
  /** Moves the process to a cgroup. Returns why it could not be moved. */
  readonly move?: (name: string) => Promise<string | undefined>;
  readonly isIn?: (name: string) => boolean;
  readonly applyScore?: (score: number) => Promise<string | undefined>;
}

/** Interval of the checks of a kubelet with and without a cgroup of its own (`containerManagerImpl.Start`). */
const WITH_CGROUP_MS = 60_000;
const WITHOUT_CGROUP_MS = 300_000;

export class AgentPlacement {
  readonly #parts: Required<PlacementParts>;
  /** Problems that have been logged and have not been solved since. */
  #problems: ReadonlySet<string> = new Set();
  #timer: unknown;

  constructor(parts: PlacementParts) {
    this.#parts = { move, isIn: isAgentIn, applyScore: applyOomScoreAdj, ...parts };
  }

  /** Moves the process to its cgroup, if it has one of its own and is not there, and sets its oom_score_adj. */
  async apply(): Promise<void> {
    const { resources, logger, isIn, move: moveTo, applyScore } = this.#parts;
    const { kubeletCgroups: name, oomScoreAdj } = resources;
    // The check is repeated in the background, where a rejection would end the process.
    const failed = (error: unknown) => `the agent cannot move to the cgroup ${name}: ${messageOf(error)}`;
    const stayed = name && !isIn(name) ? await moveTo(name).catch(failed) : undefined;
    const misfit = await applyScore(oomScoreAdj);
    if (stayed && !this.#problems.has(stayed)) logger.warn(stayed);
    if (misfit && !this.#problems.has(misfit)) logger.info(misfit);
    this.#problems = new Set([stayed, misfit].filter((problem) => problem !== undefined));
  }

  /** Repeats `apply` until the returned function is called. */
  repeat(): () => void {
    const { clock, resources } = this.#parts;
    const everyMs = resources.kubeletCgroups ? WITH_CGROUP_MS : WITHOUT_CGROUP_MS;
    let isOver = false;
    const wait = () => {
      this.#timer = clock.setTimeout(() => {
        void this.apply().finally(() => {
          if (!isOver) wait();
        });
      }, everyMs);
    };
    wait();
    return () => {
      isOver = true;
      clock.clearTimeout(this.#timer);
    };
  }
}

const move = async (name: string): Promise<string | undefined> =>
  moveAgentTo(name, { hierarchies: await readHierarchies() });
