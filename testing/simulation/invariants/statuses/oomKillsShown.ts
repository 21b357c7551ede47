/** Checks how the agent reports the processes that the OOM killer has killed. */
import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { containerIdOfKill, type OomKill } from '../../../../kubernetes/lifecycle/oomKill.ts';
import type { Invariant } from '../invariant.ts';

const isSystemKill = ({ limitedCgroup }: OomKill): boolean => limitedCgroup === '/';
const pidIn = (message: string): number => Number(/pid:? (\d+)/.exec(message)?.[1]);

/** Returns a key for a run of a container that does not change if the runtime changes the ID of the container. */
const runOf = ({ podUid, containerName, attempt }: SimulatedContainer): string =>
  `${podUid} ${containerName} ${attempt}`;

export const oomKillsShown: Invariant = {
  description:
    'Each agent reports each system OOM kill once, and the status of a container mentions only its own kill.',
  follow: (watched, violated) => {
    const { host } = watched;
    const reported = new Set<number>();
    /** Runs of the killed containers, by the PID of the killed process. */
    const killedRuns = new Map<number, string>();
    const recordKilledRuns = () => {
      for (const kill of host.oomKills) {
        const container = killedRuns.has(kill.pid) ? undefined : host.container(containerIdOfKill(kill) ?? '');
        if (container !== undefined) killedRuns.set(kill.pid, runOf(container));
      }
    };
    return {
      afterStep: recordKilledRuns,
      onAgentStarted: () => reported.clear(),
      onEvent: ({ reason, message }) => {
        if (reason !== 'SystemOOM') return;
        const pid = pidIn(message);
        if (reported.has(pid)) violated(`a second event about the same kill: ${message}`);
        reported.add(pid);
        if (!host.oomKills.some((kill) => isSystemKill(kill) && kill.pid === pid))
          violated(`an event about a kill that did not happen: ${message}`);
      },
      onStatus: ({ pod }) => {
        recordKilledRuns();
        for (const { state, lastState } of pod.status?.containerStatuses ?? [])
          for (const end of [state?.terminated, lastState?.terminated]) {
            const { message = '', containerID = '' } = end ?? {};
            if (!message.includes(': the kernel killed ')) continue;
            const kill = host.oomKills.find(({ pid }) => pid === pidIn(message));
            const id = containerID.split('//').at(-1) ?? '';
            const container = host.container(id);
            // Skip a kill that the host has forgotten because it rebooted, and a container that the runtime has
            // removed.
            if (kill !== undefined && container !== undefined && runOf(container) !== killedRuns.get(kill.pid))
              violated(`container ${id} has the message of a kill in ${kill.cgroup}`);
          }
      },
      atRest: () => {
        if (watched.agent === undefined) return;
        const missing = host.oomKills.filter((kill) => isSystemKill(kill) && !reported.has(kill.pid));
        for (const { pid } of missing) violated(`no event about the system OOM kill of process ${pid}`);
      },
    };
  },
};
