/**
 * Selects the dead containers and old sandboxes of a node that are to be removed. The most recent dead instances of
 * each container are retained for their logs.
 */
import { type ContainerRun, containerRunOf, type ObservedContainer, type ObservedPod } from './observed.ts';

/** Maximum number of dead containers to retain, per container and in total. Infinity means no limit. */
export interface GarbagePolicy {
  readonly perContainer: number;
  readonly total: number;
}

/** The kubelet's default: one dead instance per container, without a total limit. */
export const defaultGarbagePolicy: GarbagePolicy = { perContainer: 1, total: Infinity };

/** A dead container to remove. */
export interface DeadContainer extends ContainerRun {
  /**
   * Whether this is the latest instance of the container, in which case only this instance records how the container
   * ended.
   */
  readonly isLatest: boolean;
}

/** Returns the dead containers that are to be removed from pods that remain on the node. */
export function deadContainers(pods: readonly ObservedPod[], { perContainer, total }: GarbagePolicy): DeadContainer[] {
  const containerInstances = pods.flatMap((pod) => deadInstances(pod).map((dead) => ({ pod, dead })));
  const maxPerContainer =
    total === Infinity ? Infinity : Math.max(1, Math.floor(total / Math.max(1, containerInstances.length)));
  const deadCount = containerInstances.reduce((count, { dead }) => count + dead.length, 0);
  const retainedPerContainer = deadCount > total ? Math.min(perContainer, maxPerContainer) : perContainer;
  const partitions = containerInstances.map(({ pod, dead }) => ({
    pod,
    retained: dead.slice(0, retainedPerContainer),
    removed: dead.slice(retainedPerContainer),
  }));
  const retainedContainers = partitions.flatMap(({ pod, retained: each }) =>
    each.map((container) => ({ pod, container })),
  );
  const surplusContainers = retainedContainers
    .sort((a, b) => b.container.createdAt - a.container.createdAt)
    .slice(total);
  const removedContainers = partitions.flatMap(({ pod, removed: each }) =>
    each.map((container) => ({ pod, container })),
  );
  const latestContainers = new Set(containerInstances.map(({ dead: [newest] }) => newest));
  return [...removedContainers, ...surplusContainers].map(({ pod, container }) => ({
    ...containerRunOf(pod, container),
    isLatest: latestContainers.has(container),
  }));
}

/**
 * Returns the dead instances of each container in the order of `containers`, the newest first. Excludes the newest
 * instance if it has been created but not started.
 */
function deadInstances({ containers }: ObservedPod): ObservedContainer[][] {
  return [...Map.groupBy(containers, ({ name }) => name).values()].map((instances) =>
    instances.filter(({ state }, index) => state === 'exited' || (index > 0 && state !== 'running')),
  );
}

/**
 * Returns the sandboxes that are to be removed from pods that remain on the node. These are not ready, have no
 * containers and are not the newest sandbox of their pod.
 */
export const emptySandboxes = (pods: readonly ObservedPod[]): string[] =>
  pods.flatMap(({ sandboxes: [, ...older], containers }) =>
    older
      .filter(({ id, state }) => state === 'notReady' && !containers.some(({ sandboxId }) => sandboxId === id))
      .map(({ id }) => id),
  );
