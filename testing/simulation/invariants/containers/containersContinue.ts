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

/** Shorter than any interval between two different times in a simulation, in milliseconds. */
const MIN_INTERVAL_MS = 0.001;

interface RunningContainer {
  readonly container: SimulatedContainer;
  readonly name: string;
  readonly pod: string;
  readonly uid: string;
  /** Earliest node time, in milliseconds, of an action that may explain why the container stops. */
  readonly since: number;
}

/**
 * Node times at which each pod (by UID) became known and got its first sandbox, and of each start request (by container
 * ID).
 */
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
    // Only later changes can be a reason to stop the pod, not the one that made it known.
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
   * Returns the earliest node time of an action that may explain a stop of the container. If the UID of its pod is
   * derived from the manifest, this is when the pod became known or got its first sandbox, because the container may
   * start late, even after the manifest has changed if the agent has not read the change yet.
   */
  sinceOf({ id, podUid }: SimulatedContainer): number | undefined {
    const sinces = [this.#known.get(podUid), this.#since.get(podUid)].filter((each) => each !== undefined);
    return DERIVED_UID.test(podUid) && sinces.length > 0 ? Math.min(...sinces) : this.#startRequestedAt.get(id);
  }
}

/**
 * Whether a container has a different image from its pod's spec. The agent may have been creating it when the manifest
 * changed.
 */
function isOutdated({ container, name }: RunningContainer, spec: PodSpec): boolean {
  const image = findContainerByName(spec, name)?.container.image;
  return image !== undefined && fullImageName(image) !== container.imageName;
}

/**
 * Whether a container had a reason to stop, i.e. an action on it or its pod, or a condition that its agent has
 * detected.
 */
function hasReason({ actionLog }: Watched, own: OwnReasons, run: RunningContainer): boolean {
  const { name, pod, uid, since } = run;
  const causeTime = own.causeTimeFor(uid);
  // A replaced pod is terminated when the agent notices the replacement, even if the container has restarted by then.
  if (!actionLog.mayBeWanted(pod, uid) || actionLog.hasCauseSince(pod, since, causeTime) || own.mayEnd(pod, uid, since))
    return true;
  const spec = own.specOf(pod, uid);
  if (spec !== undefined && isOutdated(run, spec)) return true;
  return (spec ? reasonsToEnd(spec, name) : [name]).some((each) => {
    // The agent may notice the exit of a different container late, when this one has already been restarted.
    const from = each === name ? since : Number.NEGATIVE_INFINITY;
    return actionLog.hasContainerCauseSince(pod, each, from, causeTime) || own.mayEndContainer(uid, each, from);
  });
}

export const containersContinue: Invariant = {
  number: 4,
  description:
    'A container that nothing has affected keeps running, whatever happens to the agent, the sources or the store, ' +
    'even if the runtime gives it a different ID.',
  follow: (watched, violated) => {
    const { host } = watched;
    const runningContainers = new Map<string, RunningContainer>();
    /** Containers that have stopped in this step. The reason may be recorded after the exit within the same step. */
    const stopped = new Map<string, RunningContainer>();
    const [pods, own] = [new PodTimes(), new OwnReasons(watched)];
    const onEffect = (effect: RuntimeEffect) => {
      const { kind, container } = effect;
      const { elapsed } = host.clock;
      pods.note(effect, elapsed);
      if (container === undefined) return;
      const { containerName: name, podUid: uid } = container;
      const pod = fullName(container);
      const key = `${uid} ${name}`;
      const before = runningContainers.get(key);
      if (kind === 'started') {
        runningContainers.set(key, { container, name, pod, uid, since: pods.sinceOf(container) ?? elapsed });
      } else if (kind !== 'renamed' && before?.container === container) {
        runningContainers.delete(key);
        stopped.set(key, before);
      }
    };
    const afterStep = () => {
      for (const each of stopped.values()) {
        if (!hasReason(watched, own, each)) violated(`${each.pod} ${each.name} was stopped without a cause`);
      }
      stopped.clear();
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
