import type { PodChange } from '../../../actors/status/statusBoard.ts';
import { humanDuration } from '../../../base/time/duration.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../../../kubernetes/api/schema/status.ts';
import { displayName } from '../../../kubernetes/shownName.ts';
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import { type PodActors, podActors } from '../../../show/actors/podActors.ts';

/** A change to a pod, or its state when the view opens. */
export type PodUpdate = Omit<PodChange, 'hasFailures'>;

interface ActorSummary {
  readonly name: string;
  /** Further details, appended to the sentence after commas. */
  readonly details: readonly string[];
  readonly actor: ActorNode;
}

function rejectionText({ refused }: ActorNode): string[] {
  return refused ? [`refused: ${refused.reason}: ${refused.message}`] : [];
}

/** Returns the failure that caused the current wait. Resolved failures are left out. */
function failureText({ waitingFor, lastFailure }: ActorNode): string[] {
  return waitingFor !== undefined && lastFailure ? [`after ${lastFailure.reason}`] : [];
}

function podSummary({ pod, tree }: PodActors): ActorSummary {
  const phase = pod.status?.phase ? [`phase ${pod.status.phase}`] : [];
  const ip = pod.status?.podIP ? [`IP ${pod.status.podIP}`] : [];
  return { name: nameOf(pod), details: [...phase, ...ip, ...rejectionText(tree), ...failureText(tree)], actor: tree };
}

/** The actor of a container or volume. Only a container has a status. */
interface PodPart {
  readonly actor: ActorNode;
  readonly status?: ContainerStatus | undefined;
}

const partsOf = ({ containers, volumes }: PodActors): PodPart[] => [
  ...containers,
  ...volumes.map((actor) => ({ actor })),
];

function partSummary(pod: Pod, { actor, status }: PodPart): ActorSummary {
  const restartCount = status?.restartCount ?? 0;
  const restarts = restartCount > 0 ? [`restarts ${restartCount}`] : [];
  return {
    name: `${nameOf(pod)} ${actor.machine}/${actor.name}`,
    details: [...restarts, ...failureText(actor)],
    actor,
  };
}

const nameOf = ({ metadata }: Pod): string => `pod/${displayName(metadata)}`;

function waitText({ waitingFor, until }: ActorNode, now: number): string[] {
  if (waitingFor === undefined) return [];
  return [`waiting for ${waitingFor}${until === undefined ? '' : ` for ${humanDuration(Math.max(0, until - now))}`}`];
}

function changeSentence(
  { name, details, actor }: ActorSummary,
  previousSummary: ActorSummary | undefined,
  now: number,
): string {
  const previousState =
    previousSummary && previousSummary.actor.state !== actor.state ? ` (was ${previousSummary.actor.state})` : '';
  return [`${name} ${actor.state}${previousState}`, ...details, ...waitText(actor, now)].join(', ');
}

const isSameSummary = (a: ActorSummary | undefined, b: ActorSummary) =>
  a?.actor.state === b.actor.state && a.details.join() === b.details.join();

/** A container or volume, with the summary that was last reported. */
interface ReportedPart extends PodPart {
  readonly summary: ActorSummary;
}

interface ReportedPod {
  readonly summary: ActorSummary;
  /** Containers and volumes by actor path. */
  readonly partsByPath: ReadonlyMap<string, ReportedPart>;
}

/**
 * Returns a function that describes a change in sentences, one for each actor whose state, phase, IP or restart count
 * differs from the last report. Unchanged containers and volumes are skipped early, because a pod may have a thousand
 * of them.
 */
export function changeSentences(): (change: PodUpdate, now: number) => string[] {
  const reportedPods = new Map<string, ReportedPod>();
  return (change, now) => {
    const { uid, pod, removed } = change;
    if (removed) {
      reportedPods.delete(uid);
      return [`pod/${displayName(pod.metadata)} is gone`];
    }
    const previousPod = reportedPods.get(uid);
    const actors = podActors(change);
    const summary = podSummary(actors);
    const sentences = isSameSummary(previousPod?.summary, summary)
      ? []
      : [changeSentence(summary, previousPod?.summary, now)];
    const partsByPath = new Map<string, ReportedPart>();
    for (const { actor, status } of partsOf(actors)) {
      const previousPart = previousPod?.partsByPath.get(actor.path);
      if (previousPart?.actor === actor && previousPart.status === status) {
        partsByPath.set(actor.path, previousPart);
        continue;
      }
      const summary = partSummary(pod, { actor, status });
      partsByPath.set(actor.path, { actor, status, summary });
      if (!isSameSummary(previousPart?.summary, summary))
        sentences.push(changeSentence(summary, previousPart?.summary, now));
    }
    reportedPods.set(uid, { summary, partsByPath });
    return sentences;
  };
}
