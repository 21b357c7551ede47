/** The reasons for which an agent may stop containers on its own, as far as they can be observed. */
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import { containersOf } from '../../../kubernetes/api/containers.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { Touches } from '../checks/touches.ts';
import { fullName } from '../host/host.ts';
import type { OutsideCall } from '../run/outside.ts';
import { podOfManifest } from '../users/validManifest.ts';
import { Attention } from './attention.ts';
import type { Watched } from './invariant.ts';

/** The start time of a pod is in whole seconds and published slightly later. */
const SLACK_MS = 2_000;

/** A failed readiness probe stops nothing. */
const ENDS_CONTAINERS = /^(Liveness|Startup) probe /;

/** Returns the container name in `spec.containers{web}`. */
export const nameIn = (fieldPath = ''): string => /\{(.*)\}$/.exec(fieldPath)?.[1] ?? '';

type Heard = Parameters<EventSink>[0];

/** The start of a pod as an agent has published it, and in node time. */
interface Begun {
  readonly startTime: string;
  readonly elapsed: number;
}

export class OwnReasons {
  readonly #watched: Watched;
  readonly #attention = new Attention();
  /** The reported causes, by pod UID and container. */
  readonly #told = new Touches();
  readonly #begun = new Map<string, Begun>();
  readonly #specs = new Map<string, PodSpec>();
  /** The UIDs of pods that have exceeded their deadline or are being preempted. */
  readonly #ending = new Set<string>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  noteEvent({ reason, message, involved: { uid, fieldPath } }: Heard): void {
    const { elapsed } = this.#watched.host.clock;
    const hasFailed = reason === 'FailedPostStartHook' || (reason === 'Unhealthy' && ENDS_CONTAINERS.test(message));
    if (hasFailed) this.#told.add(`${uid} ${nameIn(fieldPath)}`, elapsed);
    // A resize may take effect when other pods have released resources, long after the manifest was changed.
    if (reason === 'ResizeStarted') this.#told.add(uid, elapsed);
    // Before the first status is published, nobody else knows the start of the deadline.
    if (reason === 'Preempting' || (reason === 'DeadlineExceeded' && !this.#begun.has(uid))) this.#ending.add(uid);
  }

  noteStatus(change: PodChange): void {
    const { uid, removed } = change;
    const { spec, status } = change.pod;
    const startTime = status?.startTime;
    this.#attention.noteStatus(change, this.#watched.host.clock.elapsed);
    if (removed) for (const each of [this.#begun, this.#specs, this.#ending]) each.delete(uid);
    else this.#specs.set(uid, spec);
    if (!removed && startTime !== undefined) this.#noteStart(uid, startTime);
  }

  /**
   * Records the start of a pod. It may be long ago if a new agent reports a later one, but never before the earlier.
   */
  #noteStart(uid: string, startTime: string): void {
    const known = this.#begun.get(uid);
    if (known?.startTime === startTime) return;
    const { clock } = this.#watched.host;
    const elapsed = clock.elapsed - Math.max(0, clock.now() - Date.parse(startTime));
    this.#begun.set(uid, { startTime, elapsed: Math.max(elapsed, known?.elapsed ?? elapsed) });
  }

  noteLife(): void {
    this.#attention.noteLife();
  }

  /** Records the stop of a container, because its reason may no longer apply when the container has exited. */
  noteCall({ name, about }: OutsideCall): void {
    const { host } = this.#watched;
    this.#attention.noteCall(host.clock.elapsed);
    const stopped = name === 'stopContainer' ? host.container(about) : undefined;
    if (stopped && this.#isOverdue(fullName(stopped), stopped.podUid)) this.#ending.add(stopped.podUid);
  }

  /** Returns the time at which a reason for a change of the pod now must still be valid. */
  momentFor(uid: string): number {
    return this.#attention.momentFor(uid, this.#watched.host.clock.elapsed);
  }

  /** Whether the whole pod may be terminated or was changed since `since`. */
  mayEnd(pod: string, uid: string, since: number): boolean {
    const isToEnd = this.#ending.has(uid) || this.#isOverdue(pod, uid);
    return isToEnd || this.#told.mayActSince(uid, since, this.momentFor(uid));
  }

  /** The last published spec, also of an agent that has died. Before the first status, that of the manifest. */
  specOf(pod: string, uid: string): PodSpec | undefined {
    const manifest = this.#watched.deeds.versionsOf(pod).at(-1);
    return this.#specs.get(uid) ?? (manifest && podOfManifest(manifest).spec);
  }

  mayEndContainer(uid: string, container: string, since: number): boolean {
    return this.#told.mayActSince(`${uid} ${container}`, since, this.momentFor(uid));
  }

  /** Whether a published or new deadline has passed, by the wall clock or in node time. */
  #isOverdue(pod: string, uid: string): boolean {
    const { host } = this.#watched;
    const begun = this.#begun.get(uid);
    if (begun === undefined) return false;
    const had = Math.max(host.clock.now() - Date.parse(begun.startTime), host.clock.elapsed - begun.elapsed);
    return this.#deadlinesOf(pod, uid).some((seconds) => had + SLACK_MS >= seconds * 1_000);
  }

  /** An agent may read a new deadline and terminate the pod before it publishes anything. */
  #deadlinesOf(pod: string, uid: string): number[] {
    const told = this.#specs.get(uid);
    const wanted = this.#watched.deeds.versionsOf(pod).map((manifest) => podOfManifest(manifest).spec);
    return [...(told ? [told] : []), ...wanted].flatMap(({ activeDeadlineSeconds }) => activeDeadlineSeconds ?? []);
  }
}

/** Returns the containers of a pod whose exit may be the reason why this container stops, including itself. */
export function reasonsToEnd(spec: PodSpec, name: string): readonly string[] {
  const all = containersOf(spec);
  const restartsAll = all.some(({ container }) =>
    container.restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
  // A sidecar is stopped when the other containers have exited.
  const isSidecar = all.some(({ container, role }) => container.name === name && role === 'sidecar');
  return restartsAll || isSidecar ? all.map(({ container }) => container.name) : [name];
}
