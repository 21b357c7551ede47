/**
 * Observations of a pod at the runtime, as plain data. All times are milliseconds since the epoch. The observations are
 * level-triggered: each contains everything that the runtime has of a pod, regardless of missed events.
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
   * Mark of the agent that created the sandbox (its root directory and node). Undefined for a sandbox of other
   * software.
   */
  readonly owner?: string;
  /** Addresses of the pod, the primary one first. Only a status call returns them, not a list. */
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
  /** Hash of the name and image (C6) at creation, from the container's annotation. */
  readonly hash: string;
  readonly image: string;
  /** ID or digest of the image at the runtime. */
  readonly imageRef: string;
  /** Ports at creation, from the container's annotation. Undefined if it has none. */
  readonly ports?: readonly ContainerPort[];
  /** The preStop hook at creation, as the JSON in the container's annotation. Undefined if it has none. */
  readonly preStop?: string;
  /**
   * Grace period of the pod in seconds at creation, from the container's annotation. Undefined if the annotation is
   * missing.
   */
  readonly podGraceSeconds?: number;
  /** Only a status call returns the following fields, not a list. */
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly exitCode?: number;
  /** The runtime's reason: `Completed`, `Error`, `OOMKilled`, `ContainerStatusUnknown`, … */
  readonly reason?: string;
  readonly message?: string;
  readonly made?: CreatedContainer;
}

/** Details of a created container, which only a status call returns. */
export interface CreatedContainer {
  /** The image by its name at the runtime. */
  readonly image: string;
  readonly imageRef: string;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: number[] };
  /** Mounts whose submounts are read-only too, by container path. */
  readonly mounts?: Readonly<Record<string, { readonly recursiveReadOnly?: boolean }>>;
}

/** The identity of a pod, which is sufficient to remove what is left of it. */
export type PodIdentity = Pick<ObservedPod, 'uid' | 'namespace' | 'name'>;

/** Namespace of a pod of which only the UID is known. */
export const UNKNOWN_NAMESPACE = 'unknown';

/** A pod of which an earlier run of the agent left something. */
export interface LeftPod extends PodIdentity {
  /** Whether the pod's directory has this agent's mark. Its sandboxes and containers then belong to this agent, too. */
  readonly isMarked?: boolean;
  /**
   * Whether the agent has just taken over the pod. Its sandboxes then belong to this agent regardless of their mark.
   */
  readonly isTaken?: boolean;
}

/** A pod of another agent, which is listed but not changed. */
export interface ForeignPod extends PodIdentity {
  /** Why the pod does not belong to this agent. */
  readonly why: string;
  /** The pod's directory below this agent's root. Undefined if there is none. */
  readonly directory?: string;
  /** IDs of the pod's sandboxes at the runtime. */
  readonly sandboxes: readonly string[];
}

/**
 * Everything that the runtime has of one pod. Each list has the newest objects first, except that running containers
 * precede the others.
 */
export interface ObservedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly containers: readonly ObservedContainer[];
  /**
   * The pod's sandboxes that other agents created. The lists above contain neither these sandboxes nor their
   * containers.
   */
  readonly others?: readonly ObservedSandbox[];
}

/** Explains that a sandbox has another agent's mark, which consists of its root directory and node. */
export function foreignSandboxReason(owner: string): string {
  const separator = owner.lastIndexOf('@');
  const agent =
    separator < 0
      ? owner
      : `the agent with the root directory ${owner.slice(0, separator)} on node ${owner.slice(separator + 1)}`;
  return `it has a sandbox created by ${agent}`;
}

/**
 * Returns the pod with other agents' sandboxes moved to `others`, because this agent must not adopt, stop or remove
 * them or their containers.
 */
export function separateForeignSandboxes(pod: ObservedPod, owner: string): ObservedPod {
  const { others: _known, ...own } = pod;
  const isForeign = (sandbox: ObservedSandbox) => sandbox.owner !== undefined && sandbox.owner !== owner;
  const foreign = own.sandboxes.filter(isForeign);
  if (foreign.length === 0) return own;
  const ids = new Set(foreign.map(({ id }) => id));
  return {
    ...own,
    sandboxes: own.sandboxes.filter((sandbox) => !isForeign(sandbox)),
    containers: own.containers.filter(({ sandboxId }) => !ids.has(sandboxId)),
    others: foreign,
  };
}

/** One run of a container, with what is needed to find its log and its object at the runtime. */
export interface ContainerRun {
  readonly pod: PodIdentity;
  readonly container: string;
  /** ID of the container at the runtime. */
  readonly id: string;
  readonly attempt: number;
}

export const containerRunOf = ({ uid, namespace, name }: PodIdentity, container: ObservedContainer): ContainerRun => ({
  pod: { uid, namespace, name },
  container: container.name,
  id: container.id,
  attempt: container.attempt,
});
