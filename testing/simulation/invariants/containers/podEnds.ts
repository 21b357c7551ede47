/** Records the exits of containers, which explain why containers do not run and why a pod has completed or failed. */
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { isSidecar } from '../../../../kubernetes/api/pods/containers.ts';
import { isStaticPod } from '../../../../kubernetes/api/pods/staticPod.ts';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import type { RecordedEvent } from '../../../../kubernetes/events/recordedEvent.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { replaceRenamedId } from '../../run/renamedIds.ts';
import type { Watched } from '../invariant.ts';
import { isShutdownAnnouncement } from '../shutdownAnnouncement.ts';
import { statusesOf } from '../statuses/apiRules.ts';

/** A time by the wall clock and in node time, in milliseconds. */
interface Timestamp {
  readonly at: number;
  readonly elapsed: number;
}

export interface ContainerEnd extends Timestamp {
  /** Undefined for a container that was removed while it was running. */
  readonly exitCode: number | undefined;
}

interface RecordedEnd extends Timestamp {
  readonly container: SimulatedContainer;
  /** Whether the node removed the container, so that it could query the exit code first. */
  readonly isRemoved: boolean;
}

/** Runtime calls with which a node removes containers. */
const REMOVAL_CALLS: ReadonlySet<string> = new Set(['removeContainer', 'removePodSandbox']);

/** The exit that the kubelet reports for a container that it cannot find. */
const NOT_FOUND_EXIT = { exitCode: 137, reason: 'ContainerStatusUnknown' };

/** Type and reason of the condition of a pod that the node has terminated. */
const DISRUPTION = 'DisruptionTarget';
const BY_NODE = 'TerminationByKubelet';

export class PodEnds {
  readonly #watched: Pick<Watched, 'host'>;
  readonly #ends = new Map<string, Map<string, RecordedEnd>>();
  /** IDs of the containers that the node has reported as not found, by pod UID. */
  readonly #notFound = new Map<string, Set<string>>();
  /**
   * IDs of the containers and sandboxes whose removal the node has requested. If something else removes them, the node
   * may not know how a container exited.
   */
  readonly #removalRequested = new Set<string>();
  /** Priorities of all pods so far. A pod with a lower priority than any of them may have been preempted. */
  readonly #priorities = new Set<number>();
  /** UIDs of the pods with a reported eviction. The eviction invariants check whether it was necessary. */
  readonly #evictedUids = new Set<string>();
  /** Whether a shutdown of the host was ever announced. The shutdown invariants check the rest. */
  #hasShutDown = false;
  /**
   * Maximum time that each pod (by UID) can have been active when its DeadlineExceeded was first reported, in
   * milliseconds.
   */
  readonly #activeMs = new Map<string, number>();
  /**
   * Largest offset of the wall clock from node time so far, in milliseconds. The clock may have been set back since a
   * pod started or exceeded its deadline.
   */
  #maxOffset = Number.NEGATIVE_INFINITY;

  /** Creation order of the containers, because timestamps and attempt numbers may go back. */
  readonly #creationOrder = new WeakMap<SimulatedContainer, number>();
  #count = 0;

  constructor(watched: Pick<Watched, 'host'>) {
    this.#watched = watched;
  }

  #numberOf(container: SimulatedContainer): number {
    return this.#creationOrder.get(container) ?? 0;
  }

  noteEvent({ reason, message, involved }: Pick<RecordedEvent, 'reason' | 'message' | 'involved'>): void {
    if (reason === 'Evicted') this.#evictedUids.add(involved.uid);
    if (isShutdownAnnouncement({ reason, message })) this.#hasShutDown = true;
  }

  noteCall({ name, about }: OutsideCall): void {
    if (REMOVAL_CALLS.has(name)) this.#removalRequested.add(about);
  }

  note(effect: RuntimeEffect): void {
    replaceRenamedId(this.#removalRequested, effect);
    const { kind, sandbox, container } = effect;
    if (container === undefined) return;
    if (kind === 'created') {
      this.#count += 1;
      this.#creationOrder.set(container, this.#count);
    }
    if (kind !== 'ended' && kind !== 'removed') return;
    const { clock } = this.#watched.host;
    const ends = this.#ends.get(sandbox.podUid) ?? new Map<string, RecordedEnd>();
    const { containerName: name, id, state } = container;
    const known = ends.get(name);
    // A run that the runtime had forgotten may exit after a later run.
    if (known && this.#numberOf(container) < this.#numberOf(known.container)) return;
    const isRemoved = kind === 'removed' && (this.#removalRequested.has(id) || this.#removalRequested.has(sandbox.id));
    if (kind === 'ended' || state === 'running') {
      this.#ends.set(sandbox.podUid, ends.set(name, { at: clock.now(), elapsed: clock.elapsed, container, isRemoved }));
    } else if (known?.container.id === id) ends.set(name, { ...known, isRemoved });
  }

  noteTime(): void {
    const { clock } = this.#watched.host;
    this.#maxOffset = Math.max(this.#maxOffset, clock.now() - clock.elapsed);
  }

  noteStatus({ uid, removed, pod: { spec, status = {} } }: PodChange): void {
    this.noteTime();
    if (status.reason === 'DeadlineExceeded' && status.startTime && !this.#activeMs.has(uid)) {
      const latest = this.#watched.host.clock.elapsed + this.#maxOffset;
      this.#activeMs.set(uid, latest - Date.parse(status.startTime));
    }
    if (spec.priority !== undefined) this.#priorities.add(spec.priority);
    for (const { state } of statusesOf(status)) {
      const { reason, containerID = '' } = state?.terminated ?? {};
      if (reason !== NOT_FOUND_EXIT.reason) continue;
      const notFound = this.#notFound.get(uid) ?? new Set();
      this.#notFound.set(uid, notFound.add(containerID.split('//')[1] ?? ''));
    }
    if (!removed) return;
    this.#ends.delete(uid);
    this.#notFound.delete(uid);
    this.#activeMs.delete(uid);
  }

  lastEndOf(uid: string, name: string): ContainerEnd | undefined {
    const found = this.#ends.get(uid)?.get(name);
    if (found === undefined) return undefined;
    const { at, elapsed, container } = found;
    return { at, elapsed, exitCode: this.#isLost(uid, found) ? NOT_FOUND_EXIT.exitCode : container.exitCode };
  }

  /**
   * Whether the node did not see the exit of a container, because the runtime forgot it or something else removed it.
   */
  #isLost(uid: string, { container: { id }, isRemoved }: RecordedEnd): boolean {
    const isFound = () => this.#watched.host.containers().some((each) => each.id === id);
    return !isRemoved && this.#notFound.get(uid)?.has(id) === true && !isFound();
  }

  #isLate(uid: string, { spec: { activeDeadlineSeconds: seconds } }: Pod): boolean {
    return seconds !== undefined && (this.#activeMs.get(uid) ?? 0) >= seconds * 1_000;
  }

  /** Whether there is a reason for the terminal phase of a pod. `versions` are the pods of its manifests. */
  explain(pod: Pod, versions: readonly Pod[]): boolean {
    const { metadata, spec, status } = pod;
    const { uid } = metadata;
    const endOf = ({ name }: Container) => this.lastEndOf(uid, name);
    if (status?.reason === 'DeadlineExceeded') return versions.some((each) => this.#isLate(uid, each));
    const isOutranked = [...this.#priorities].some((each) => each > (spec.priority ?? 0));
    // The exits of a preempted pod's containers take precedence over the phase that the preemption sets (C2).
    const hasSucceeded =
      spec.containers.every((each) => endOf(each)?.exitCode === 0) &&
      (!isStaticPod(pod) || spec.containers.every((each) => mayStayEnded(spec, each, endOf(each))));
    if (status?.reason === 'Preempting') return isOutranked && !hasSucceeded;
    if (status?.reason === 'Evicted') return this.#evictedUids.has(uid) && !hasSucceeded;
    if (status?.reason === 'Terminated') return this.#hasShutDown && !hasSucceeded;
    if (status?.reason) return false;
    const isDisrupted = status?.conditions?.some(({ type, reason }) => type === DISRUPTION && reason === BY_NODE);
    if (isDisrupted) return (isOutranked || this.#hasShutDown) && hasSucceeded && status?.phase === 'Succeeded';
    const inits = (spec.initContainers ?? []).filter((each) => !isSidecar(each));
    const hasFailed = (each: Container) => endOf(each) !== undefined && endOf(each)?.exitCode !== 0;
    if (status?.phase === 'Failed' && inits.some((each) => hasFailed(each) && mayStayEnded(spec, each, endOf(each))))
      return true;
    const { containers } = spec;
    return (
      containers.every((each) => mayStayEnded(spec, each, endOf(each))) &&
      (status?.phase === 'Succeeded') === containers.every((each) => endOf(each)?.exitCode === 0)
    );
  }
}

/** Whether the restart policy allows a container to remain terminated, or with `Never` not to have run at all. */
export function mayStayEnded(spec: PodSpec, container: Container, end: ContainerEnd | undefined): boolean {
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  const exitCode = end?.exitCode;
  const { restartPolicyRules = [] } = container;
  const isOfRule = restartPolicyRules.some(
    ({ exitCodes }) =>
      exitCodes !== undefined &&
      exitCode !== undefined &&
      exitCodes.values?.includes(exitCode) === (exitCodes.operator === 'In'),
  );
  if (isOfRule || policy === 'Always') return false;
  return policy === 'Never' || exitCode === 0 || (end !== undefined && exitCode === undefined);
}
