import type { PodChange } from '../../actors/status/statusBoard.ts';
import { humanDuration } from '../../pod/api/duration.ts';
import { shownName } from '../../pod/show/shownName.ts';
import type { ActorView, PodView } from '../../pod/show/view.ts';

interface Shown {
  readonly name: string;
  readonly state: string;
  /** What else is told when it changes, after a comma each. */
  readonly details: readonly string[];
  readonly view: ActorView;
}

function refusal({ refused }: PodView): string[] {
  return refused ? [`refused: ${refused.reason}: ${refused.message}`] : [];
}

/** Why it waits; a failure that it has got over is not told again. */
function failure({ waitingFor, lastFailure }: ActorView): string[] {
  return waitingFor !== undefined && lastFailure ? [`after ${lastFailure.reason}`] : [];
}

function shownOf({ pod, view }: PodChange): Shown[] {
  const name = `pod/${shownName(pod.metadata)}`;
  const phase = pod.status?.phase ? [`phase ${pod.status.phase}`] : [];
  const ip = pod.status?.podIP ? [`IP ${pod.status.podIP}`] : [];
  return [
    { name, state: view.state, details: [...phase, ...ip, ...refusal(view), ...failure(view)], view },
    ...view.containers.map((container) => ({
      name: `${name} container/${container.name}`,
      state: container.state,
      details: [...(container.restartCount > 0 ? [`restarts ${container.restartCount}`] : []), ...failure(container)],
      view: container,
    })),
    ...view.volumes.map((volume) => ({
      name: `${name} volume/${volume.name}`,
      state: volume.state,
      details: failure(volume),
      view: volume,
    })),
  ];
}

function wait({ waitingFor, until }: ActorView, now: number): string[] {
  if (waitingFor === undefined) return [];
  return [`waiting for ${waitingFor}${until === undefined ? '' : ` for ${humanDuration(Math.max(0, until - now))}`}`];
}

function sentence(shown: Shown, before: Shown | undefined, now: number): string {
  const was = before && before.state !== shown.state ? ` (was ${before.state})` : '';
  return [`${shown.name} ${shown.state}${was}`, ...shown.details, ...wait(shown.view, now)].join(', ');
}

const isSame = (a: Shown | undefined, b: Shown) => a?.state === b.state && a.details.join() === b.details.join();

/** Makes sentences of changes, one for each actor whose state, phase, IP or restarts are new; remembers what it told. */
export function changeSentences(): (change: PodChange, now: number) => string[] {
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
