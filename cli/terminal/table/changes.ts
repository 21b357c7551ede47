import type { PodChange } from '../../../actors/status/statusBoard.ts';
import { humanDuration } from '../../../base/duration.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../../../kubernetes/api/schema/status.ts';
import { displayName } from '../../../kubernetes/shownName.ts';
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import { type PodActors, podActors } from '../../../show/actors/podActors.ts';

/** A change; or a pod as it is when somebody begins to look. */
export type ToldPod = Omit<PodChange, 'hasFailures'>;

interface Shown {
  readonly name: string;
  /** What else is told when it changes, after a comma each. */
  readonly details: readonly string[];
  readonly actor: ActorNode;
}

function refusal({ refused }: ActorNode): string[] {
  return refused ? [`refused: ${refused.reason}: ${refused.message}`] : [];
}

/** Why it waits; a failure that it has got over is not told again. */
function failure({ waitingFor, lastFailure }: ActorNode): string[] {
  return waitingFor !== undefined && lastFailure ? [`after ${lastFailure.reason}`] : [];
}

function shownPod({ pod, tree }: PodActors): Shown {
  const phase = pod.status?.phase ? [`phase ${pod.status.phase}`] : [];
  const ip = pod.status?.podIP ? [`IP ${pod.status.podIP}`] : [];
  return { name: nameOf(pod), details: [...phase, ...ip, ...refusal(tree), ...failure(tree)], actor: tree };
}

/** An actor of a container or volume. The status is that of the container. */
interface Part {
  readonly actor: ActorNode;
  readonly status?: ContainerStatus | undefined;
}

const partsOf = ({ containers, volumes }: PodActors): Part[] => [...containers, ...volumes.map((actor) => ({ actor }))];

function shownPart(pod: Pod, { actor, status }: Part): Shown {
  const restartCount = status?.restartCount ?? 0;
  const restarts = restartCount > 0 ? [`restarts ${restartCount}`] : [];
  return { name: `${nameOf(pod)} ${actor.machine}/${actor.name}`, details: [...restarts, ...failure(actor)], actor };
}

const nameOf = ({ metadata }: Pod): string => `pod/${displayName(metadata)}`;

function wait({ waitingFor, until }: ActorNode, now: number): string[] {
  if (waitingFor === undefined) return [];
  return [`waiting for ${waitingFor}${until === undefined ? '' : ` for ${humanDuration(Math.max(0, until - now))}`}`];
}

function sentence({ name, details, actor }: Shown, before: Shown | undefined, now: number): string {
  const was = before && before.actor.state !== actor.state ? ` (was ${before.actor.state})` : '';
  return [`${name} ${actor.state}${was}`, ...details, ...wait(actor, now)].join(', ');
}

const isSame = (a: Shown | undefined, b: Shown) =>
  a?.actor.state === b.actor.state && a.details.join() === b.details.join();

/** A part of a pod as it was when it was looked at last, and what was told of it. */
interface ToldPart extends Part {
  readonly shown: Shown;
}

interface Told {
  readonly pod: Shown;
  /** Containers and volumes by the paths of their actors. */
  readonly parts: ReadonlyMap<string, ToldPart>;
}

/**
 * Makes sentences of changes, one for each actor whose state, phase, IP or restarts are new; remembers what it told. Of a
 * container or volume that is as it was nothing is made, because a pod may have a thousand.
 */
export function changeSentences(): (change: ToldPod, now: number) => string[] {
  const told = new Map<string, Told>();
  return (change, now) => {
    const { uid, pod, removed } = change;
    if (removed) {
      told.delete(uid);
      return [`pod/${displayName(pod.metadata)} is gone`];
    }
    const before = told.get(uid);
    const actors = podActors(change);
    const shown = shownPod(actors);
    const sentences = isSame(before?.pod, shown) ? [] : [sentence(shown, before?.pod, now)];
    const parts = new Map<string, ToldPart>();
    for (const { actor, status } of partsOf(actors)) {
      const last = before?.parts.get(actor.path);
      if (last?.actor === actor && last.status === status) {
        parts.set(actor.path, last);
        continue;
      }
      const part = shownPart(pod, { actor, status });
      parts.set(actor.path, { actor, status, shown: part });
      if (!isSame(last?.shown, part)) sentences.push(sentence(part, last?.shown, now));
    }
    told.set(uid, { pod: shown, parts });
    return sentences;
  };
}
