/**
 * What the runtime shows of a pod, as plain data. All times are milliseconds since the epoch.
 * Facts are level-triggered: a list carries all that there is of a pod, whatever was missed before.
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
  /** Whose sandbox it is: the mark that an agent puts on it (its root directory and node); absent on foreign ones. */
  readonly owner?: string;
  /** Only after a status call, not in a list: the pod's addresses, the primary first. */
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
  /** The hash of name and image (C6) under which it was made, from its annotation. */
  readonly hash: string;
  readonly image: string;
  /** The image's id or digest, as the runtime names it. */
  readonly imageRef: string;
  /** The ports that it was made with, from its annotation; absent: none. */
  readonly ports?: readonly ContainerPort[];
  /** The preStop hook that it was made with, as the JSON of its annotation; absent: none. */
  readonly preStop?: string;
  /** The pod's grace in seconds when it was made, from its annotation; absent: none was noted. */
  readonly podGraceSeconds?: number;
  /** Only after a status call, not in a list. */
  readonly startedAt?: number;
  readonly finishedAt?: number;
  readonly exitCode?: number;
  /** `Completed`, `Error`, `OOMKilled`, `ContainerStatusUnknown`, … as the runtime says. */
  readonly reason?: string;
  readonly message?: string;
  readonly made?: MadeContainer;
}

/** What the runtime made of a container, as only a status call tells it. */
export interface MadeContainer {
  /** The image by the runtime's name of it, and by its digest there. */
  readonly image: string;
  readonly imageRef: string;
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: number[] };
  readonly stopSignal?: string;
  /** What is special about a mount, by its path in the container: the image that it shows, or that all below is read-only. */
  readonly mounts?: Readonly<Record<string, { readonly image?: string; readonly recursiveReadOnly?: boolean }>>;
}

/** Enough of a pod to end what is left of it. */
export type PodIdentity = Pick<ObservedPod, 'uid' | 'namespace' | 'name'>;

/** The namespace of a pod of which only the uid is known. */
export const UNKNOWN = 'unknown';

/** A pod that a former run of the agent left something of. */
export interface LeftPod extends PodIdentity {
  /** Its directory bears this agent's mark: whatever the runtime has of it is this agent's, too. */
  readonly isMarked?: boolean;
  /** It was taken over just now: its sandboxes are this agent's too, whoever marked them. */
  readonly isTaken?: boolean;
}

/** A pod of others: left alone, and listed. */
export interface ForeignPod extends PodIdentity {
  /** Why it is not this agent's. */
  readonly why: string;
  /** Its directory below this agent's root, if it has one there. */
  readonly directory?: string;
  /** The ids of its sandboxes at the runtime. */
  readonly sandboxes: readonly string[];
}

/** Everything the runtime shows of one pod, the newest first in each list, and before those the containers that run. */
export interface ObservedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly containers: readonly ObservedContainer[];
  /** The sandboxes of it that other agents made; neither these nor their containers are among the above. */
  readonly others?: readonly ObservedSandbox[];
}

/** Why a sandbox with another agent's mark, its root directory and node, is left alone. */
export function madeBy(owner: string): string {
  const end = owner.lastIndexOf('@');
  const agent =
    end < 0 ? owner : `the agent with the root directory ${owner.slice(0, end)} on node ${owner.slice(end + 1)}`;
  return `it has a sandbox created by ${agent}`;
}

/** The pod without what another agent made of it, which is kept apart: nothing of that is ours to adopt, stop or remove. */
export function withoutOthers(pod: ObservedPod, owner: string): ObservedPod {
  const { others: _known, ...all } = pod;
  const isTheirs = (sandbox: ObservedSandbox) => sandbox.owner !== undefined && sandbox.owner !== owner;
  const others = all.sandboxes.filter(isTheirs);
  if (others.length === 0) return all;
  const ids = new Set(others.map(({ id }) => id));
  return {
    ...all,
    sandboxes: all.sandboxes.filter((sandbox) => !isTheirs(sandbox)),
    containers: all.containers.filter(({ sandboxId }) => !ids.has(sandboxId)),
    others,
  };
}

/** One run of a container: enough to find its log and what the runtime has of it. */
export interface ContainerRun {
  readonly pod: PodIdentity;
  readonly container: string;
  /** The container's id at the runtime. */
  readonly id: string;
  readonly attempt: number;
}

export const runOf = ({ uid, namespace, name }: PodIdentity, container: ObservedContainer): ContainerRun => ({
  pod: { uid, namespace, name },
  container: container.name,
  id: container.id,
  attempt: container.attempt,
});
