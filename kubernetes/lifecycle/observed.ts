/**
 * Observations of a pod in the runtime, as plain data. All times are in milliseconds since the epoch. The observations
 * are level-triggered. Each of them contains all of the pod's objects in the runtime, so missed events do not matter.
 */
import type { ContainerPort } from '../api/schema/container.ts';

export interface ObservedSandbox {
  readonly id: string;
  readonly podUid: string;
  readonly namespace: string;
  readonly podName: string;
  readonly attempt: number;
  readonly state: 'ready' | 'notReady';
  readonly createdAt: number;
  /**
   * Mark that identifies the agent that created the sandbox. It consists of the agent's root directory and node name.
   * Undefined if other software created the sandbox.
   */
  readonly owner?: string;
  /**
   * Addresses of the pod, starting with the primary one. They are returned only by a status call, not by a list call.
   */
  readonly ips?: readonly string[];
  readonly hostNetwork?: boolean;
}

export interface ObservedContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  readonly name: string;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly createdAt: number;
  /** Hash of the container's name and image at creation (C6), from the container's annotation. */
  readonly hash: string;
  readonly image: string;
  /** ID or digest of the image in the runtime. */
  readonly imageRef: string;
  /** Ports at creation, from the container's annotation. Undefined if the annotation is missing. */
  readonly ports?: readonly ContainerPort[];
  /** The preStop hook at creation as JSON, from the container's annotation. Undefined if the annotation is missing. */
  readonly preStop?: string;
  /**
   * Grace period of the pod in seconds at creation, from the container's annotation. Undefined if the annotation is
   * missing.
   */
  readonly podGraceSeconds?: number;
  /**
   * Start time. The runtime's container list contains neither this field nor the fields below. Only a status call
   * returns them.
   */
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly exitCode?: number;
  /** Reason that the runtime reports, e.g. `Completed`, `Error`, `OOMKilled` or `ContainerStatusUnknown`. */
  readonly reason?: string;
  readonly message?: string;
  readonly createdContainer?: CreatedContainer;
}

/** Details of a created container, which only a status call returns. */
export interface CreatedContainer {
  /** The image's name in the runtime. */
  readonly image: string;
  readonly imageRef: string;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: number[] };
  /** Mount details by container path. `recursiveReadOnly` means that submounts are read-only, too. */
  readonly mounts?: Readonly<Record<string, { readonly recursiveReadOnly?: boolean }>>;
}

/** Identity of a pod. It is sufficient for removing leftover objects and files of the pod. */
export type PodIdentity = Pick<ObservedPod, 'uid' | 'namespace' | 'name'>;

/** Placeholder for the namespace of a pod if only its UID can be determined. */
export const UNKNOWN_NAMESPACE = 'unknown';

/** A pod whose objects or files an earlier run of the agent left on the node. */
export interface LeftoverPod extends PodIdentity {
  /**
   * Whether the pod's directory has this agent's mark, in which case its sandboxes and containers belong to this agent,
   * too.
   */
  readonly isMarked?: boolean;
  /**
   * Whether the agent has just taken over the pod, in which case its sandboxes belong to this agent regardless of their
   * marks.
   */
  readonly isTakenOver?: boolean;
}

/** A pod that belongs to a different agent. This agent lists it but does not change it. */
export interface ForeignPod extends PodIdentity {
  /** Reason why the pod does not belong to this agent. */
  readonly why: string;
  /** The pod's directory below this agent's root. Undefined if the pod has none. */
  readonly directory?: string;
  /** IDs of the pod's sandboxes in the runtime. */
  readonly sandboxes: readonly string[];
}

/**
 * All sandboxes and containers of one pod in the runtime. Each list is sorted from newest to oldest, except that
 * running containers precede all others.
 */
export interface ObservedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly containers: readonly ObservedContainer[];
  /**
   * The pod's sandboxes that other agents created. `sandboxes` and `containers` exclude these sandboxes and their
   * containers.
   */
  readonly foreignSandboxes?: readonly ObservedSandbox[];
}

/**
 * Returns a message that a sandbox belongs to a different agent. The agent's mark consists of its root directory and
 * node.
 */
export function foreignSandboxReason(owner: string): string {
  const separator = owner.lastIndexOf('@');
  const agent =
    separator < 0
      ? owner
      : `the agent with the root directory ${owner.slice(0, separator)} on node ${owner.slice(separator + 1)}`;
  return `it has a sandbox created by ${agent}`;
}

/**
 * Returns the pod with other agents' sandboxes moved to `foreignSandboxes`, because this agent must not adopt, stop or
 * remove them or their containers.
 */
export function separateForeignSandboxes(pod: ObservedPod, owner: string): ObservedPod {
  const { foreignSandboxes: _known, ...own } = pod;
  const isForeign = (sandbox: ObservedSandbox) => sandbox.owner !== undefined && sandbox.owner !== owner;
  const foreignSandboxes = own.sandboxes.filter(isForeign);
  if (foreignSandboxes.length === 0) return own;
  const ids = new Set(foreignSandboxes.map(({ id }) => id));
  return {
    ...own,
    sandboxes: own.sandboxes.filter((sandbox) => !isForeign(sandbox)),
    containers: own.containers.filter(({ sandboxId }) => !ids.has(sandboxId)),
    foreignSandboxes,
  };
}

/** A run of a container, with the data that is needed to find its log and its object in the runtime. */
export interface ContainerRun {
  readonly pod: PodIdentity;
  readonly container: string;
  /** ID of the container in the runtime. */
  readonly id: string;
  readonly attempt: number;
}

export const containerRunOf = ({ uid, namespace, name }: PodIdentity, container: ObservedContainer): ContainerRun => ({
  pod: { uid, namespace, name },
  container: container.name,
  id: container.id,
  attempt: container.attempt,
});
