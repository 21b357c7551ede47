/**
 * Selects the dead containers and old sandboxes to remove from a node. The most recent dead instances of each container
 * are retained for their logs.
 */
import { type ContainerRun, containerRunOf, type ObservedContainer, type ObservedPod } from './observed.ts';

/** Maximum number of dead containers to retain, per container and in total. Infinity means no limit. */
export interface GarbagePolicy {
  readonly perContainer: number;
  readonly total: number;
  /**
   * Minimum time between the creation and the removal of a dead container, in milliseconds. Undefined if there is none.
   */
  readonly minAgeMs?: number;
}

/** The kubelet's default: one dead instance per container, without a total limit. */
export const defaultGarbagePolicy: GarbagePolicy = { perContainer: 1, total: Infinity };

/** A dead container to remove. */
export interface DeadContainer extends ContainerRun {
  /** Whether this is the container's latest instance. Only the latest instance shows how the container exited. */
  readonly isLatest: boolean;
}

/**
 * The dead instances of one container of a pod. `dead` contains those that have reached the minimum age, the newest
 * first.
 */
interface DeadInstances {
  readonly pod: ObservedPod;
  readonly dead: readonly ObservedContainer[];
  /** The newest dead instance, even if it has not reached the minimum age. */
  readonly latest: ObservedContainer | undefined;
}

/**
 * Returns the dead containers to remove from pods that remain on the node (`evictContainers` in
 * `pkg/kubelet/kuberuntime/kuberuntime_gc.go`). `now` is in milliseconds since the epoch. If `now` is undefined, every
 * container is considered old enough.
 */
export const deadContainers = (pods: readonly ObservedPod[], policy: GarbagePolicy, now = Infinity): DeadContainer[] =>
  withoutRetained(oldInstances(pods, deadInstances, policy, now), policy);

/**
 * Returns the dead containers to remove if the disk is full (`DeleteAllUnusedContainers`): those that the policy does
 * not retain, and all containers of terminated pods that have not been deleted yet.
 */
export function unusedContainers(
  pods: readonly ObservedPod[],
  policy: GarbagePolicy,
  { now, terminatedUids }: { readonly now: number; readonly terminatedUids: ReadonlySet<string> },
): DeadContainer[] {
  const [terminatedPods, otherPods] = [true, false].map((isTerminated) =>
    pods.filter(({ uid }) => terminatedUids.has(uid) === isTerminated),
  );
  return [
    ...withoutRetained(oldInstances(terminatedPods ?? [], stoppedInstances, policy, now), {
      perContainer: 0,
      total: 0,
    }),
    ...deadContainers(otherPods ?? [], policy, now),
  ];
}

/**
 * Returns the instances of each container that have reached the minimum age. Omits containers without such instances.
 */
const oldInstances = (
  pods: readonly ObservedPod[],
  instancesOf: (pod: ObservedPod) => ObservedContainer[][],
  { minAgeMs = 0 }: GarbagePolicy,
  now: number,
): DeadInstances[] =>
  pods.flatMap((pod) =>
    instancesOf(pod)
      .map((instances) => ({
        pod,
        dead: instances.filter(({ createdAt }) => createdAt <= now - minAgeMs),
        latest: instances[0],
      }))
      .filter(({ dead }) => dead.length > 0),
  );

/**
 * Returns the instances that exceed the limits. First applies the limit per container. If the remaining instances
 * exceed the total limit, each container retains at most an equal share of that limit. If there are still too many, the
 * oldest instances are removed.
 */
function withoutRetained(instances: readonly DeadInstances[], { perContainer, total }: GarbagePolicy): DeadContainer[] {
  const retain = (maxPerContainer: number) =>
    instances.flatMap(({ dead }) => dead.slice(0, maxPerContainer)).toSorted((a, b) => b.createdAt - a.createdAt);
  const equalShare = Math.max(1, Math.floor(total / Math.max(1, instances.length)));
  const instancesWithinLimit = retain(perContainer);
  const retainedInstances =
    instancesWithinLimit.length > total
      ? retain(Math.min(perContainer, equalShare)).slice(0, total)
      : instancesWithinLimit;
  const retainedContainers = new Set(retainedInstances);
  return instances.flatMap(({ pod, dead, latest }) =>
    dead
      .filter((container) => !retainedContainers.has(container))
      .map((container) => ({ ...containerRunOf(pod, container), isLatest: container === latest })),
  );
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

/** Returns the instances of each container of a terminated pod that are not running. */
const stoppedInstances = ({ containers }: ObservedPod): ObservedContainer[][] =>
  [...Map.groupBy(containers, ({ name }) => name).values()].map((instances) =>
    instances.filter(({ state }) => state !== 'running'),
  );

/**
 * Returns the sandboxes to remove from pods that remain on the node. These sandboxes are not ready, have no containers
 * and are not the newest sandbox of their pod.
 */
export const emptySandboxes = (pods: readonly ObservedPod[]): string[] =>
  pods.flatMap(({ sandboxes: [, ...older], containers }) =>
    older
      .filter(({ id, state }) => state === 'notReady' && !containers.some(({ sandboxId }) => sandboxId === id))
      .map(({ id }) => id),
  );
