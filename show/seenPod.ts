/** A pod as its object shows it, and as its actors do: what explanations, tables and the log are made from. */
import { containersOf } from '../kubernetes/api/containers.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../kubernetes/api/schema/status.ts';
import type { ContainerRole } from '../kubernetes/status/view.ts';
import type { ActorNode } from './actorNode.ts';

export interface SeenPod {
  /** With its status. */
  readonly pod: Pod;
  readonly tree: ActorNode;
}

/** Each pod with its tree, of those that have one; `trees` is by uid. */
export const seenPods = (pods: readonly Pod[], trees: ReadonlyMap<string, ActorNode>): SeenPod[] =>
  pods.flatMap((pod) => {
    const tree = trees.get(pod.metadata.uid);
    return tree ? [{ pod, tree }] : [];
  });

export interface SeenContainer {
  readonly actor: ActorNode;
  readonly role: ContainerRole;
  /** Absent where the pod's status has nothing of it, as of one that was taken out of its pod. */
  readonly status?: ContainerStatus;
  /** Whether it will run again by itself (in back-off, or about to be created); never while its pod ends. */
  readonly willRestart: boolean;
}

/** A pod with those of its actors that users know, an image being part of who waits for it. */
export interface PodActors extends SeenPod {
  readonly volumes: readonly ActorNode[];
  readonly containers: readonly SeenContainer[];
}

export function podActors({ pod, tree }: SeenPod): PodActors {
  const statuses = new Map(statusesOf(pod).map((status) => [status.name, status]));
  const roles = new Map(containersOf(pod.spec).map(({ container, role }) => [container.name, role]));
  const children = tree.children.map(withImage);
  const ends = tree.termination !== undefined || tree.tags.includes('ended');
  return {
    pod,
    tree: { ...tree, children },
    volumes: children.filter(({ machine }) => machine === 'volume'),
    containers: children
      .filter(({ machine }) => machine === 'container')
      .map((actor) => {
        const status = statuses.get(actor.name);
        const willRestart = !ends && !actor.tags.includes('rests');
        return { actor, role: roles.get(actor.name) ?? 'regular', willRestart, ...(status ? { status } : {}) };
      }),
  };
}

/** The names of its containers. */
export const containerNames = ({ containers }: PodActors): string[] => containers.map(({ actor }) => actor.name);

/** Whether the pod has a sandbox with its network. */
export const hasNetwork = ({ status = {} }: Pod): boolean =>
  (status.conditions ?? []).some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True');

/** The statuses of all containers of a pod. */
export const statusesOf = ({ status = {} }: Pod): ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
  ...(status.ephemeralContainerStatuses ?? []),
];

/** Who waits for an image is in that image's state, and waits for what it waits for. */
function withImage(actor: ActorNode): ActorNode {
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
}
