/** What of a node's dead containers and old sandboxes may go. Of each container the last dead ones are kept for their logs. */
import { type ContainerRun, type ObservedContainer, type ObservedPod, runOf } from './observed.ts';

/** How many dead containers are kept; Infinity bounds nothing. */
export interface GarbagePolicy {
  readonly perContainer: number;
  readonly total: number;
}

/** The kubelet's own: one dead container of each container, however many there are. */
export const defaultGarbagePolicy: GarbagePolicy = { perContainer: 1, total: Infinity };

/** A dead one that may go. */
export interface DeadContainer extends ContainerRun {
  /** No other of this container died after it: how its pod has ended can be seen by this one alone. */
  readonly isLatest: boolean;
}

/** The dead containers that may go, of pods that go on. */
export function deadContainers(pods: readonly ObservedPod[], { perContainer, total }: GarbagePolicy): DeadContainer[] {
  const units = pods.flatMap((pod) => deadByName(pod).map((dead) => ({ pod, dead })));
  const shared = total === Infinity ? Infinity : Math.max(1, Math.floor(total / Math.max(1, units.length)));
  const all = units.reduce((count, { dead }) => count + dead.length, 0);
  const keep = all > total ? Math.min(perContainer, shared) : perContainer;
  const parted = units.map(({ pod, dead }) => ({ pod, kept: dead.slice(0, keep), gone: dead.slice(keep) }));
  const kept = parted.flatMap(({ pod, kept: each }) => each.map((container) => ({ pod, container })));
  const surplus = kept.sort((a, b) => b.container.createdAt - a.container.createdAt).slice(total);
  const gone = parted.flatMap(({ pod, gone: each }) => each.map((container) => ({ pod, container })));
  const latest = new Set(units.map(({ dead: [newest] }) => newest));
  return [...gone, ...surplus].map(({ pod, container }) => ({
    ...runOf(pod, container),
    isLatest: latest.has(container),
  }));
}

/** The dead of each container, the newest first. One that was just made and has yet to start is none. */
function deadByName({ containers }: ObservedPod): ObservedContainer[][] {
  return [...Map.groupBy(containers, ({ name }) => name).values()].map((all) =>
    all.filter(({ state }, index) => state === 'exited' || (index > 0 && state !== 'running')),
  );
}

/** The sandboxes that may go, of pods that go on: not ready, nothing in them, and not the pod's latest. */
export const emptySandboxes = (pods: readonly ObservedPod[]): string[] =>
  pods.flatMap(({ sandboxes: [, ...older], containers }) =>
    older
      .filter(({ id, state }) => state === 'notReady' && !containers.some(({ sandboxId }) => sandboxId === id))
      .map(({ id }) => id),
  );
