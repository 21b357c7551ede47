/**
 * Detects the OOM kills after which the container continues to run. The kubelet does not report them. Without
 * `memory.oom.group`, the kernel kills one process, and the container may continue without it. All functions are pure.
 */
import { lookUp } from '../../../base/values/lookUp.ts';
import { containersOf } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { involvedPod, type RecordedEvent, recordedEvent, warning } from '../../../kubernetes/events/recordedEvent.ts';
import type { ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import { containerIdOfKill, type OomKill, oomKillMessage } from '../../../kubernetes/lifecycle/oomKill.ts';

/** An OOM kill in a container that may continue to run. */
export interface PendingProcessKill {
  readonly kill: OomKill;
  readonly containerId: string;
  /**
   * Number of ticks of the node that remain until the runtime's containers are certain to have been listed after the
   * kill.
   */
  readonly remainingTicks: number;
}

/**
 * Number of ticks after which the runtime's containers have certainly been listed again. Ticks are 10 s apart, and the
 * containers are listed at least every 10 s.
 */
const TICKS_TO_WAIT = 3;
/** Maximum number of pending kills. Further ones are not reported. */
const MAX_PENDING_KILLS = 100;

/** The part of the node's context that determines which kills are reported. */
interface KillContext {
  readonly reportsProcessOomKills?: boolean;
  readonly processKills: readonly PendingProcessKill[];
  readonly observed?: Readonly<Record<string, ObservedPod>>;
  readonly pods: Readonly<Record<string, { readonly pod: Pod }>>;
  readonly health: { readonly ready: boolean };
}

/** Returns the pending kills including a new one, or undefined if the new kill is not to be reported. */
export function withProcessKill(
  { reportsProcessOomKills, processKills }: KillContext,
  kill: OomKill,
): readonly PendingProcessKill[] | undefined {
  const containerId = containerIdOfKill(kill);
  if (!reportsProcessOomKills || containerId === undefined || processKills.length >= MAX_PENDING_KILLS)
    return undefined;
  return [...processKills, { kill, containerId, remainingTicks: TICKS_TO_WAIT }];
}

/**
 * Returns the pending kills after a tick, and the events for those kills after which the container is still running.
 * While the runtime is not ready, it is unknown which containers run, so all kills remain pending.
 */
export function confirmedProcessKills(context: KillContext): {
  readonly processKills: readonly PendingProcessKill[];
  readonly events: readonly RecordedEvent[];
} {
  const { processKills, health } = context;
  if (processKills.length === 0 || !health.ready) return { processKills, events: [] };
  const updatedKills = processKills.map((each) => ({ ...each, remainingTicks: each.remainingTicks - 1 }));
  return {
    processKills: updatedKills.filter(({ remainingTicks }) => remainingTicks > 0),
    events: updatedKills
      .filter(({ remainingTicks }) => remainingTicks <= 0)
      .flatMap((each) => killEvents(context, each)),
  };
}

function killEvents({ observed = {}, pods }: KillContext, { kill, containerId }: PendingProcessKill): RecordedEvent[] {
  for (const { uid, containers } of Object.values(observed)) {
    const container = containers.find(({ id }) => id === containerId);
    if (container === undefined) continue;
    const pod = lookUp(pods, uid)?.pod;
    if (pod === undefined || container.state !== 'running') return [];
    const placedContainer = containersOf(pod.spec).find((each) => each.container.name === container.name);
    const involved = involvedPod(pod, placedContainer && { name: container.name, role: placedContainer.role });
    return [
      recordedEvent(involved, warning('ProcessOOMKilled', `${oomKillMessage(kill)}; the container continues to run`)),
    ];
  }
  return [];
}
