/** Reasons for which an agent may stop containers on its own, as far as a simulation can observe them. */
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

/** Tolerance in milliseconds. The start time of a pod is in whole seconds and is published slightly later. */
const SLACK_MS = 2_000;

/** Messages about probes whose failure stops the container. A failed readiness probe stops nothing. */
const STOPPING_PROBES = /^(Liveness|Startup) probe /;

/** Returns the container name in a field path, e.g. `web` in `spec.containers{web}`. */
export const nameIn = (fieldPath = ''): string => /\{(.*)\}$/.exec(fieldPath)?.[1] ?? '';

type RecordedEvent = Parameters<EventSink>[0];

/** The start time that an agent has published for a pod, and the same time as node time in milliseconds. */
interface PodStart {
  readonly startTime: string;
  readonly elapsed: number;
}

export class OwnReasons {
  readonly #watched: Watched;
  readonly #podKnowledge = new PodKnowledge();
  /** Times of the reported causes, by pod UID or by pod UID and container name. */
  readonly #causes = new CauseTimes();
  readonly #starts = new Map<string, PodStart>();
  readonly #specs = new Map<string, PodSpec>();
  /**
   * UIDs of the pods that exceeded their deadline, were preempted or evicted, or existed when a shutdown was announced.
   */
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
    // Until the first status is published, only the agent knows since when the deadline counts.
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
   * Records the start of a pod. If a new agent reports a later start time, it may be far in the past, but it never
   * precedes the recorded one.
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

  /**
   * Records a stop that a deadline explains, because the deadline may no longer apply when the container has exited.
   */
  noteCall({ name, about }: OutsideCall): void {
    const { host } = this.#watched;
    this.#podKnowledge.noteCall(host.clock.elapsed);
    const stopped = name === 'stopContainer' ? host.container(about) : undefined;
    if (stopped && this.#isOverdue(fullName(stopped), stopped.podUid)) this.#ending.add(stopped.podUid);
  }

  /** Returns the node time at which the cause of a change that happens to the pod now must still be valid. */
  causeTimeFor(uid: string): number {
    return this.#podKnowledge.causeTimeFor(uid, this.#watched.host.clock.elapsed);
  }

  /** Whether the whole pod may be terminated, or was changed after `since`. */
  mayEnd(pod: string, uid: string, since: number): boolean {
    const isToEnd = this.#ending.has(uid) || this.#isOverdue(pod, uid);
    return isToEnd || this.#causes.mayHaveEffectSince(uid, since, this.causeTimeFor(uid));
  }

  /**
   * Returns the last published spec, even if its agent has died. Before the first status, returns that of the manifest.
   */
  specOf(pod: string, uid: string): PodSpec | undefined {
    const manifest = this.#watched.actionLog.versionsOf(pod).at(-1);
    return this.#specs.get(uid) ?? (manifest && podOfManifest(manifest).spec);
  }

  mayEndContainer(uid: string, container: string, since: number): boolean {
    return this.#causes.mayHaveEffectSince(`${uid} ${container}`, since, this.causeTimeFor(uid));
  }

  /** Whether a deadline in the published spec or in a manifest has passed, by the wall clock or in node time. */
  #isOverdue(pod: string, uid: string): boolean {
    const { host } = this.#watched;
    const start = this.#starts.get(uid);
    if (start === undefined) return false;
    const activeMs = Math.max(host.clock.now() - Date.parse(start.startTime), host.clock.elapsed - start.elapsed);
    return this.#deadlinesOf(pod, uid).some((seconds) => activeMs + SLACK_MS >= seconds * 1_000);
  }

  /**
   * Returns the deadlines in seconds. An agent may read a new deadline and terminate the pod before it publishes
   * anything.
   */
  #deadlinesOf(pod: string, uid: string): number[] {
    const published = this.#specs.get(uid);
    const wanted = this.#watched.actionLog.versionsOf(pod).map((manifest) => podOfManifest(manifest).spec);
    return [...(published ? [published] : []), ...wanted].flatMap(
      ({ activeDeadlineSeconds }) => activeDeadlineSeconds ?? [],
    );
  }
}

/** Returns the names of the containers whose exit may be the reason why this container stops, including itself. */
export function reasonsToEnd(spec: PodSpec, name: string): readonly string[] {
  const all = containersOf(spec);
  const restartsAll = all.some(({ container }) =>
    container.restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
  // A sidecar is stopped when the other containers have exited.
  const isSidecar = all.some(({ container, role }) => container.name === name && role === 'sidecar');
  return restartsAll || isSidecar ? all.map(({ container }) => container.name) : [name];
}
