/** What an agent may end containers for by itself, as far as anybody else can see. */
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

/** The start of a pod is told in whole seconds, and heard of a little later. */
const SLACK_MS = 2_000;

/** Of a readiness probe nothing ends. */
const ENDS_CONTAINERS = /^(Liveness|Startup) probe /;

/** The container of `spec.containers{web}`. */
export const nameIn = (fieldPath = ''): string => /\{(.*)\}$/.exec(fieldPath)?.[1] ?? '';

type Heard = Parameters<EventSink>[0];

/** When a pod has started, as an agent tells, and by the time that no jump of the clock changes. */
interface Begun {
  readonly startTime: string;
  readonly elapsed: number;
}

export class OwnReasons {
  readonly #watched: Watched;
  readonly #attention = new Attention();
  /** What was told of pods, by their UIDs, and of their containers. */
  readonly #told = new Touches();
  readonly #begun = new Map<string, Begun>();
  readonly #specs = new Map<string, PodSpec>();
  /** The pods that have exceeded their deadline, or have to make room for others, by their UIDs. */
  readonly #ending = new Set<string>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  noteEvent({ reason, message, involved: { uid, fieldPath } }: Heard): void {
    const { elapsed } = this.#watched.host.clock;
    const hasFailed = reason === 'FailedPostStartHook' || (reason === 'Unhealthy' && ENDS_CONTAINERS.test(message));
    if (hasFailed) this.#told.add(`${uid} ${nameIn(fieldPath)}`, elapsed);
    // It may take effect when other pods have made room, long after the manifest was changed.
    if (reason === 'ResizeStarted') this.#told.add(uid, elapsed);
    // Before anything was told of its status, nobody else knows since when it has been active.
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

  /** It counts from the start, which may be long ago when another agent tells of a later one; never from before the earlier. */
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

  /** The stop of a container may be asked for: what is the reason now may be none when it has ended. */
  noteCall({ name, about }: OutsideCall): void {
    const { host } = this.#watched;
    this.#attention.noteCall(host.clock.elapsed);
    const stopped = name === 'stopContainer' ? host.container(about) : undefined;
    if (stopped && this.#isOverdue(fullName(stopped), stopped.podUid)) this.#ending.add(stopped.podUid);
  }

  /** The moment at which a reason for what becomes of a pod now must still be one. */
  momentFor(uid: string): number {
    return this.#attention.momentFor(uid, this.#watched.host.clock.elapsed);
  }

  /** Whether the whole pod is to end, or was to change, since then. */
  mayEnd(pod: string, uid: string, since: number): boolean {
    const isToEnd = this.#ending.has(uid) || this.#isOverdue(pod, uid);
    return isToEnd || this.#told.mayActSince(uid, since, this.momentFor(uid));
  }

  /** As it was told last, also by an agent that has died since; before that, as its manifest says. */
  specOf(pod: string, uid: string): PodSpec | undefined {
    const manifest = this.#watched.deeds.versionsOf(pod).at(-1);
    return this.#specs.get(uid) ?? (manifest && podOfManifest(manifest).spec);
  }

  mayEndContainer(uid: string, container: string, since: number): boolean {
    return this.#told.mayActSince(`${uid} ${container}`, since, this.momentFor(uid));
  }

  /** A deadline has passed, by the wall clock or by the time that it has had: what it was told with, or is to have. */
  #isOverdue(pod: string, uid: string): boolean {
    const { host } = this.#watched;
    const begun = this.#begun.get(uid);
    if (begun === undefined) return false;
    const had = Math.max(host.clock.now() - Date.parse(begun.startTime), host.clock.elapsed - begun.elapsed);
    return this.#deadlinesOf(pod, uid).some((seconds) => had + SLACK_MS >= seconds * 1_000);
  }

  /** An agent may read a new one and end the pod for it before it tells anything. */
  #deadlinesOf(pod: string, uid: string): number[] {
    const told = this.#specs.get(uid);
    const wanted = this.#watched.deeds.versionsOf(pod).map((manifest) => podOfManifest(manifest).spec);
    return [...(told ? [told] : []), ...wanted].flatMap(({ activeDeadlineSeconds }) => activeDeadlineSeconds ?? []);
  }
}

/** The containers of a pod whose end may be why one of them ends, with that itself. */
export function reasonsToEnd(spec: PodSpec, name: string): readonly string[] {
  const all = containersOf(spec);
  const restartsAll = all.some(({ container }) =>
    container.restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
  // A sidecar ends when the others have.
  const isSidecar = all.some(({ container, role }) => container.name === name && role === 'sidecar');
  return restartsAll || isSidecar ? all.map(({ container }) => container.name) : [name];
}
