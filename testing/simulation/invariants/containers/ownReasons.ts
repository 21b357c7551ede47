/** The reasons for which an agent may stop containers on its own, as far as they can be observed. */
import type { EventSink } from '../../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import { CauseTimes } from '../../checks/causeTimes.ts';
import { fullName } from '../../host/host.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { podOfManifest } from '../../users/validManifest.ts';
import type { Watched } from '../invariant.ts';
import { isShutdownAnnouncement } from '../shutdownAnnouncement.ts';
import { PodKnowledge } from '../statuses/podKnowledge.ts';

/** The start time of a pod is in whole seconds and published slightly later. */
const SLACK_MS = 2_000;

/** A failed readiness probe stops nothing. */
const STOPPING_PROBES = /^(Liveness|Startup) probe /;

/** Returns the container name in `spec.containers{web}`. */
export const nameIn = (fieldPath = ''): string => /\{(.*)\}$/.exec(fieldPath)?.[1] ?? '';

type RecordedEvent = Parameters<EventSink>[0];

/** The start of a pod as an agent has published it, and in node time. */
interface PodStart {
  readonly startTime: string;
  readonly elapsed: number;
}

export class OwnReasons {
  readonly #watched: Watched;
  readonly #podKnowledge = new PodKnowledge();
  /** The reported causes, by pod UID and container. */
  readonly #causes = new CauseTimes();
  readonly #starts = new Map<string, PodStart>();
  readonly #specs = new Map<string, PodSpec>();
  /** The UIDs of pods that have exceeded their deadline, are being preempted or evicted, or existed at a shutdown. */
  readonly #ending = new Set<string>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  noteEvent({ reason, message, involved: { uid, fieldPath } }: RecordedEvent): void {
    const { elapsed } = this.#watched.host.clock;
    const hasFailed = reason === 'FailedPostStartHook' || (reason === 'Unhealthy' && STOPPING_PROBES.test(message));
    if (hasFailed) this.#causes.add(`${uid} ${nameIn(fieldPath)}`, elapsed);
    // A resize may take effect when other pods have released resources, long after the manifest was changed.
    if (reason === 'ResizeStarted') this.#causes.add(uid, elapsed);
    // Before the first status is published, nobody else knows the start of the deadline.
    const isFailedByNode = reason === 'Preempting' || reason === 'Evicted';
    if (isShutdownAnnouncement({ reason, message })) for (const each of this.#specs.keys()) this.#ending.add(each);
    if (isFailedByNode || (reason === 'DeadlineExceeded' && !this.#starts.has(uid))) this.#ending.add(uid);
  }

  noteStatus(change: PodChange): void {
    const { uid, removed } = change;
    const { spec, status } = change.pod;
    const startTime = status?.startTime;
    this.#podKnowledge.noteStatus(change, this.#watched.host.clock.elapsed);
    if (removed) for (const each of [this.#starts, this.#specs, this.#ending]) each.delete(uid);
    else this.#specs.set(uid, spec);
    if (!removed && startTime !== undefined) this.#noteStart(uid, startTime);
  }

  /**
   * Records the start of a pod. It may be long ago if a new agent reports a later one, but never before the earlier.
   */
  #noteStart(uid: string, startTime: string): void {
    const known = this.#starts.get(uid);
    if (known?.startTime === startTime) return;
    const { clock } = this.#watched.host;
    const elapsed = clock.elapsed - Math.max(0, clock.now() - Date.parse(startTime));
    this.#starts.set(uid, { startTime, elapsed: Math.max(elapsed, known?.elapsed ?? elapsed) });
  }

  noteAgentStart(): void {
    this.#podKnowledge.noteAgentStart();
  }

  /** Records the stop of a container, because its reason may no longer apply when the container has exited. */
  noteCall({ name, about }: OutsideCall): void {
    const { host } = this.#watched;
    this.#podKnowledge.noteCall(host.clock.elapsed);
    const stopped = name === 'stopContainer' ? host.container(about) : undefined;
    if (stopped && this.#isOverdue(fullName(stopped), stopped.podUid)) this.#ending.add(stopped.podUid);
  }

  /** Returns the time at which a reason for a change of the pod now must still be valid. */
  causeTimeFor(uid: string): number {
    return this.#podKnowledge.causeTimeFor(uid, this.#watched.host.clock.elapsed);
  }

  /** Whether the whole pod may be terminated or was changed since `since`. */
  mayEnd(pod: string, uid: string, since: number): boolean {
    const isToEnd = this.#ending.has(uid) || this.#isOverdue(pod, uid);
    return isToEnd || this.#causes.mayHaveEffectSince(uid, since, this.causeTimeFor(uid));
  }

  /** The last published spec, also of an agent that has died. Before the first status, that of the manifest. */
  specOf(pod: string, uid: string): PodSpec | undefined {
    const manifest = this.#watched.actionLog.versionsOf(pod).at(-1);
    return this.#specs.get(uid) ?? (manifest && podOfManifest(manifest).spec);
  }

  mayEndContainer(uid: string, container: string, since: number): boolean {
    return this.#causes.mayHaveEffectSince(`${uid} ${container}`, since, this.causeTimeFor(uid));
  }

  /** Whether a published or new deadline has passed, by the wall clock or in node time. */
  #isOverdue(pod: string, uid: string): boolean {
    const { host } = this.#watched;
    const begun = this.#starts.get(uid);
    if (begun === undefined) return false;
    const had = Math.max(host.clock.now() - Date.parse(begun.startTime), host.clock.elapsed - begun.elapsed);
    return this.#deadlinesOf(pod, uid).some((seconds) => had + SLACK_MS >= seconds * 1_000);
  }

  /** An agent may read a new deadline and terminate the pod before it publishes anything. */
  #deadlinesOf(pod: string, uid: string): number[] {
    const told = this.#specs.get(uid);
    const wanted = this.#watched.actionLog.versionsOf(pod).map((manifest) => podOfManifest(manifest).spec);
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
