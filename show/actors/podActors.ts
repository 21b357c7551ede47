/** Combines a pod object with the tree of its actors. Explanations, tables and the log are derived from both. */
import { memoize } from '../../base/values/memoize.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../../kubernetes/api/schema/status.ts';
import { allStatuses } from '../../kubernetes/status/allStatuses.ts';
import type { ContainerRole } from '../../kubernetes/status/view.ts';
import type { ActorNode } from './actorNode.ts';

export interface PodWithTree {
  /** The pod object with its status. */
  readonly pod: Pod;
  readonly tree: ActorNode;
}

/** Pairs each pod with its actor tree, keyed by UID in `trees`. Pods without a tree are omitted. */
export const pairWithTrees = (pods: readonly Pod[], trees: ReadonlyMap<string, ActorNode>): PodWithTree[] =>
  pods.flatMap((pod) => {
    const tree = trees.get(pod.metadata.uid);
    return tree ? [{ pod, tree }] : [];
  });

export interface ContainerWithActor {
  readonly actor: ActorNode;
  readonly role: ContainerRole;
  /**
   * Undefined if the pod's status does not contain the container, e.g. after the container was removed from the pod.
   */
  readonly status?: ContainerStatus;
  /**
   * Whether the container will run again, because it is in back-off or about to be created. Always false while the pod
   * is terminating.
   */
  readonly willRestart: boolean;
}

/**
 * A pod with the actors of its containers and volumes. The state of an image is merged into the actor that waits for
 * it.
 */
export interface PodActors extends PodWithTree {
  readonly volumes: readonly ActorNode[];
  readonly containers: readonly ContainerWithActor[];
}

const containerRoles = memoize(
  (spec: PodSpec): ReadonlyMap<string, ContainerRole> =>
    new Map(containersOf(spec).map(({ container, role }) => [container.name, role])),
);

export function podActors({ pod, tree }: PodWithTree): PodActors {
  const statusesByName = new Map(allStatuses(pod.status).map((status) => [status.name, status]));
  const roles = containerRoles(pod.spec);
  const children = tree.children.map(withImageState);
  const isTerminating = tree.termination !== undefined || tree.tags.includes('ended');
  return {
    pod,
    tree: { ...tree, children },
    volumes: children.filter(({ machine }) => machine === 'volume'),
    containers: children
      .filter(({ machine }) => machine === 'container')
      .map((actor) => {
        const status = statusesByName.get(actor.name);
        const willRestart = !isTerminating && !actor.tags.includes('rests');
        return { actor, role: roles.get(actor.name) ?? 'regular', willRestart, ...(status ? { status } : {}) };
      }),
  };
}

export const containerNames = ({ containers }: PodActors): string[] => containers.map(({ actor }) => actor.name);

/** Whether the pod has a sandbox with a network. */
export const hasNetwork = ({ status = {} }: Pod): boolean =>
  (status.conditions ?? []).some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True');

/** Replaces the state and wait of an actor with those of the image that it is waiting for. */
const withImageState = memoize((actor: ActorNode): ActorNode => {
  const image = actor.children.find(({ machine }) => machine === 'image');
  if (image === undefined) return actor;
  const { state, tags, since, waitingFor, until, lastFailure } = image;
  return {
    ...actor,
    state: `${actor.state}.${state}`,
    tags: [...tags, ...actor.tags.slice(1)],
    since,
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(until === undefined ? {} : { until }),
    ...(lastFailure ? { lastFailure } : {}),
    children: actor.children.filter((child) => child !== image),
  };
});
