import type { PodChange } from '../../actors/status/statusBoard.ts';
import { humanDuration } from '../../base/duration.ts';
import { shownName } from '../../kubernetes/shownName.ts';
import type { ActorNode } from '../../show/actorNode.ts';
import { podActors } from '../../show/podActors.ts';

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

function shownOf(change: ToldPod): Shown[] {
  const { pod, tree, volumes, containers } = podActors(change);
  const name = `pod/${shownName(pod.metadata)}`;
  const phase = pod.status?.phase ? [`phase ${pod.status.phase}`] : [];
  const ip = pod.status?.podIP ? [`IP ${pod.status.podIP}`] : [];
  return [
    { name, details: [...phase, ...ip, ...refusal(tree), ...failure(tree)], actor: tree },
    ...containers.map(({ actor, status: { restartCount = 0 } = {} }) => ({
      name: `${name} container/${actor.name}`,
      details: [...(restartCount > 0 ? [`restarts ${restartCount}`] : []), ...failure(actor)],
      actor,
    })),
    ...volumes.map((actor) => ({ name: `${name} volume/${actor.name}`, details: failure(actor), actor })),
  ];
}

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

/** Makes sentences of changes, one for each actor whose state, phase, IP or restarts are new; remembers what it told. */
export function changeSentences(): (change: ToldPod, now: number) => string[] {
  const told = new Map<string, Map<string, Shown>>();
  return (change, now) => {
    if (change.removed) {
      told.delete(change.uid);
      return [`pod/${shownName(change.pod.metadata)} is gone`];
    }
    const before = told.get(change.uid);
    const shown = shownOf(change);
    told.set(change.uid, new Map(shown.map((each) => [each.name, each])));
    return shown
      .filter((each) => !isSame(before?.get(each.name), each))
      .map((each) => sentence(each, before?.get(each.name), now));
  };
}
