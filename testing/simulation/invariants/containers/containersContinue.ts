import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import { fullImageName } from '../../../../cri/simulated/objects/imageName.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { findContainerByName } from '../../../../kubernetes/api/pods/containers.ts';
import type { PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import { fullName } from '../../host/host.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { moveRenamedKey, replaceRenamedId } from '../../run/renamedIds.ts';
import { DERIVED_UID } from '../../users/actionLog.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { OwnReasons, reasonsToEnd } from './ownReasons.ts';

/** Less than the smallest interval between two times in a simulation, in milliseconds. */
const MIN_INTERVAL_MS = 0.001;

/** A running container. */
interface RunningContainer {
  readonly container: SimulatedContainer;
  readonly name: string;
  readonly pod: string;
  readonly uid: string;
  /** An action since this time may be the reason why the container stops. */
  readonly since: number;
}

/** The times since which each pod is known and at the runtime, by UID, and of each start request. */
class PodTimes {
  readonly #known = new Map<string, number>();
  readonly #since = new Map<string, number>();
  readonly #sandboxes = new Map<string, Set<string>>();
  readonly #startRequestedAt = new Map<string, number>();

  noteCall({ target, name, about }: OutsideCall, at: number): void {
    if (target === 'runtime' && name === 'startContainer') this.#startRequestedAt.set(about, at);
  }

  noteStatus({ uid, removed }: PodChange, at: number): void {
    if (removed) this.#known.delete(uid);
    // The change that made the pod known is no reason to stop it. Only later changes are.
    else if (!this.#known.has(uid)) this.#known.set(uid, at + MIN_INTERVAL_MS);
  }

  note(effect: RuntimeEffect, at: number): void {
    const { kind, container } = effect;
    const { id, podUid } = effect.sandbox;
    if (container !== undefined) {
      moveRenamedKey(this.#startRequestedAt, effect);
      if (kind === 'removed') this.#startRequestedAt.delete(container.id);
      return;
    }
    const sandboxes = this.#sandboxes.get(podUid) ?? new Set();
    if (kind === 'created') sandboxes.add(id);
    replaceRenamedId(sandboxes, effect);
    if (kind === 'removed') sandboxes.delete(id);
    if (sandboxes.size === 0) {
      this.#sandboxes.delete(podUid);
      this.#since.delete(podUid);
      return;
    }
    this.#sandboxes.set(podUid, sandboxes);
    if (!this.#since.has(podUid)) this.#since.set(podUid, at);
  }

  /**
   * The time since which an action may be the reason for a stop. A container may start late, even for a pod whose
   * manifest has changed by now if the agent has not read it yet.
   */
  sinceOf({ id, podUid }: SimulatedContainer): number | undefined {
    const sinces = [this.#known.get(podUid), this.#since.get(podUid)].filter((each) => each !== undefined);
    return DERIVED_UID.test(podUid) && sinces.length > 0 ? Math.min(...sinces) : this.#startRequestedAt.get(id);
  }
}

/**
 * Whether a container has a different image than its pod. The agent may have been creating it when the manifest
 * changed.
 */
function isOutdated({ container, name }: RunningContainer, spec: PodSpec): boolean {
  const image = findContainerByName(spec, name)?.container.image;
  return image !== undefined && fullImageName(image) !== container.imageName;
}

/**
 * Whether there is a reason why a container stopped: an action on it or its pod, or a condition that its agent has
 * detected.
 */
function hasReason({ actionLog }: Watched, own: OwnReasons, known: RunningContainer): boolean {
  const { name, pod, uid, since } = known;
  const moment = own.causeTimeFor(uid);
  // A replaced pod is terminated when the agent notices, in whichever run it then is.
  if (!actionLog.mayBeWanted(pod, uid) || actionLog.hasCauseSince(pod, since, moment) || own.mayEnd(pod, uid, since))
    return true;
  const spec = own.specOf(pod, uid);
  if (spec !== undefined && isOutdated(known, spec)) return true;
  return (spec ? reasonsToEnd(spec, name) : [name]).some((each) => {
    // The agent may notice the exit of a different container late, after this one has been restarted.
    const from = each === name ? since : Number.NEGATIVE_INFINITY;
    return actionLog.hasContainerCauseSince(pod, each, from, moment) || own.mayEndContainer(uid, each, from);
  });
}

export const containersContinue: Invariant = {
  number: 4,
  description:
    'What ran and was not touched goes on in the same container, whatever becomes of the agent, the sources or the store, ' +
    'also where the runtime gives that another id.',
  follow: (watched, violated) => {
    const { host } = watched;
    const known = new Map<string, RunningContainer>();
    /** Containers that have stopped in this step. The reason may be recorded after the exit within the same step. */
    const ended = new Map<string, RunningContainer>();
    const [pods, own] = [new PodTimes(), new OwnReasons(watched)];
    const onEffect = (effect: RuntimeEffect) => {
      const { kind, container } = effect;
      const { elapsed } = host.clock;
      pods.note(effect, elapsed);
      if (container === undefined) return;
      const { containerName: name, podUid: uid } = container;
      const pod = fullName(container);
      const key = `${uid} ${name}`;
      const before = known.get(key);
      if (kind === 'started') {
        known.set(key, { container, name, pod, uid, since: pods.sinceOf(container) ?? elapsed });
      } else if (kind !== 'renamed' && before?.container === container) {
        known.delete(key);
        ended.set(key, before);
      }
    };
    const afterStep = () => {
      for (const each of ended.values()) {
        if (!hasReason(watched, own, each)) violated(`${each.pod} ${each.name} was ended, and nothing had touched it`);
      }
      ended.clear();
    };
    const onCall = (call: OutsideCall) => {
      pods.noteCall(call, host.clock.elapsed);
      own.noteCall(call);
    };
    const onStatus = (change: PodChange) => {
      pods.noteStatus(change, host.clock.elapsed);
      own.noteStatus(change);
    };
    const onAgentStarted = () => own.noteAgentStart();
    return { onEffect, onCall, onStatus, onAgentStarted, afterStep, onEvent: (event) => own.noteEvent(event) };
  },
};
