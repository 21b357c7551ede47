/** The board of all pods: after each turn of the actors it computes the statuses anew and tells what changed. */
import type { AnyActorRef } from 'xstate';
import { isMeeting, type PodRef, podView, type SinceOf } from '../machines/views.ts';
import { rfc3339 } from '../pod/rfc3339.ts';
import type { Pod } from '../pod/schema/pod.ts';
import type { PodStatus } from '../pod/schema/status.ts';
import { podStatus, samePodStatus } from '../pod/status.ts';
import type { PodView } from '../pod/view.ts';
import type { Clock } from './clock.ts';

/** A pod after a change of its status or of its actors' states; `removed` when it is gone from the node. */
export interface PodChange {
  readonly uid: string;
  readonly pod: Pod;
  readonly view: PodView;
  readonly removed: boolean;
}

/** Where changes go besides the subscribers, and before them. */
export type StatusSink = (change: PodChange) => void;

export interface StatusBoard {
  /** Says which actor has made a transition. */
  note(ref: AnyActorRef): void;
  pods(): readonly Pod[];
  views(): readonly PodView[];
  find(name: string): PodView | undefined;
  subscribe(listener: (change: PodChange) => void): () => void;
  close(): void;
}

interface Posted {
  readonly ref: PodRef;
  readonly pod: Pod;
  readonly view: PodView;
}

export interface StatusBoardOptions {
  readonly clock: Clock;
  readonly hostIps: readonly string[];
  readonly since: SinceOf;
  /** The scheme of container ids. */
  readonly runtimeName: () => string;
  readonly sink?: StatusSink | undefined;
}

export function createStatusBoard(options: StatusBoardOptions): StatusBoard {
  const { clock, since, hostIps, runtimeName, sink } = options;
  const posted = new Map<string, Posted>();
  const dirty = new Set<PodRef>();
  const listeners = new Set<(change: PodChange) => void>();
  let scheduled = false;

  const post = (ref: PodRef) => {
    if (isMeeting(ref)) return;
    const view = podView(ref, since);
    const { uid } = view.pod.metadata;
    const removed = view.state === 'terminated';
    if (removed && posted.get(uid)?.ref !== ref) return;
    const before = posted.get(uid)?.pod.status;
    const status =
      view.restored ??
      podStatus(view, {
        now: clock.now(),
        hostIps,
        runtimeName: runtimeName(),
        ...(before ? { previous: before } : {}),
      });
    const pod =
      posted.get(uid)?.ref === ref && samePodStatus(before, status)
        ? reuse(posted.get(uid), view)
        : withStatus(view, status);
    if (removed) posted.delete(uid);
    else posted.set(uid, { ref, pod, view });
    const change = { uid, pod, view, removed };
    sink?.(change);
    for (const listener of listeners) listener(change);
  };

  const flush = () => {
    scheduled = false;
    for (const ref of dirty) {
      dirty.delete(ref);
      post(ref);
    }
  };

  return {
    note: (ref) => {
      const pod = podOf(ref);
      if (pod === undefined) return;
      dirty.add(pod);
      if (scheduled) return;
      scheduled = true;
      // One turn of the actors is many transitions: what they come to is told once, when it is over.
      queueMicrotask(flush);
    },
    pods: () => [...posted.values()].map(({ pod }) => pod),
    views: () => [...posted.values()].map(({ view }) => view),
    find: (name) => [...posted.values()].find(({ view }) => view.pod.metadata.name === name)?.view,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      listeners.clear();
      dirty.clear();
    },
  };
}

/** The same object as long as nothing of it has changed: what is told again need not be written again. */
function reuse(before: Posted | undefined, view: PodView): Pod {
  const status = before?.pod.status;
  const same = before && before.view.pod === view.pod && before.view.termination === view.termination;
  return same ? before.pod : withStatus(view, status ?? {});
}

function withStatus({ pod, termination }: PodView, status: PodStatus): Pod {
  if (termination === undefined) return { ...pod, status };
  const { at, graceSeconds } = termination;
  const deletion = {
    deletionTimestamp: rfc3339(at + graceSeconds * 1_000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  return { ...pod, metadata: { ...pod.metadata, ...deletion }, status };
}

/** The pod that an actor belongs to: itself, or the one that it is a child of. */
function podOf(ref: AnyActorRef): PodRef | undefined {
  for (let actor: AnyActorRef | undefined = ref; actor !== undefined; actor = actor._parent) {
    // The prefix of an id says of which machine its actor is.
    if (actor.id.startsWith('pod/')) return actor as PodRef;
  }
  return undefined;
}
