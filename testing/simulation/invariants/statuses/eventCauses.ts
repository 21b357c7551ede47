/** Determines whether the cause of an event can have occurred again, except for container runs and images. */
import type { EventSink } from '../../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../../../../cri/simulated/objects/views.ts';
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { nameIn } from '../containers/ownReasons.ts';

type RecordedEvent = Parameters<EventSink>[0];

/** Reasons for which a pod is terminated. They cannot occur again until the pod is gone. */
const POD_END_REASONS: ReadonlySet<string> = new Set(['DeadlineExceeded', 'Preempting']);

/** Reasons of resize events. Between two with the same message there must be one with a different message. */
const RESIZE_REASONS: ReadonlySet<string> = new Set(['ResizeStarted', 'ResizeCompleted']);

/** Message about the result of a probe attempt. */
const PROBE_ATTEMPT = /^(Startup|Liveness|Readiness) probe (failed|warning|errored)/;

/** Container of a probe attempt, and its node time in milliseconds. */
interface ProbeAttempt {
  readonly uid: string;
  readonly container: string;
  readonly elapsed: number;
}

/** Remembers events until their causes can have occurred again. */
export class EventCauses {
  readonly #ends = new Set<string>();
  readonly #resizes = new Map<string, string>();
  readonly #sandboxes = new Set<string>();
  readonly #attempts = new Map<string, ProbeAttempt>();
  /** All containers since the start of the agent, by ID, including those that the runtime has forgotten or renamed. */
  readonly #known: Map<string, SimulatedContainer>;
  /** Pod UIDs of all sandboxes, by sandbox ID. */
  readonly #podUids: Map<string, string>;

  /** `existing` has the runtime objects that exist when the agent starts. */
  constructor(existing?: RuntimeObjects) {
    this.#known = new Map(existing?.containers().map((each) => [each.id, each]));
    this.#podUids = new Map(existing?.sandboxes().map(({ id, podUid }) => [id, podUid]));
  }

  /** Whether an event was recorded before, and its cause cannot have occurred again. */
  isRepeated(event: RecordedEvent, elapsed: number): boolean {
    const { reason, message, involved } = event;
    const { uid } = involved;
    if (POD_END_REASONS.has(reason)) return addIfMissing(this.#ends, `${reason} ${uid}`);
    if (RESIZE_REASONS.has(reason)) {
      const before = this.#resizes.get(uid);
      this.#resizes.set(uid, message);
      return before === message;
    }
    if (reason === 'SandboxChanged') return addIfMissing(this.#sandboxes, uid);
    return this.#isRepeatedAttempt(event, elapsed);
  }

  /**
   * Whether the result of a probe attempt was recorded before. The next attempt may immediately follow a long one. An
   * attempt that could not be made (`errored`) has made no call, so it is only compared with attempts at the same time.
   */
  #isRepeatedAttempt({ message, involved: { uid, fieldPath } }: RecordedEvent, elapsed: number): boolean {
    const [, probe, verdict] = PROBE_ATTEMPT.exec(message) ?? [];
    if (probe === undefined) return false;
    const container = nameIn(fieldPath);
    const key = `${uid} ${container} ${probe}`;
    const before = this.#attempts.get(key);
    this.#attempts.set(key, { uid, container, elapsed });
    return before !== undefined && (verdict !== 'errored' || before.elapsed === elapsed);
  }

  noteStatus({ uid, removed }: PodChange): void {
    if (!removed) return;
    this.#forgetEnds(uid);
    this.#resizes.delete(uid);
    this.#sandboxes.delete(uid);
  }

  noteEffect({ kind, container, sandbox: { id, podUid } }: RuntimeEffect): void {
    if (kind !== 'created' && kind !== 'renamed') return;
    if (container !== undefined) {
      this.#known.set(container.id, container);
      // A pod whose manifest is recreated starts again, which its status shows only later. A terminating pod creates
      // nothing.
      if (kind === 'created') this.#forgetEnds(podUid);
      return;
    }
    this.#podUids.set(id, podUid);
    if (kind === 'created') this.#sandboxes.delete(podUid);
  }

  /**
   * Forgets events whose cause is a call that is made again. As in the kubelet, a repeated attempt records its event
   * again.
   */
  noteCall({ target, name, about }: OutsideCall): void {
    if (target === 'network') this.#forgetAttempts(() => true);
    if (target !== 'runtime') return;
    if (name === 'execSync') {
      const found = this.#known.get(about);
      this.#forgetAttempts(({ uid, container }) => found?.podUid === uid && found.containerName === container);
    }
    if (name !== 'stopPodSandbox') return;
    const uid = this.#podUids.get(about);
    if (uid !== undefined) this.#sandboxes.delete(uid);
  }

  #forgetEnds(uid: string): void {
    for (const reason of POD_END_REASONS) this.#ends.delete(`${reason} ${uid}`);
  }

  #forgetAttempts(isOf: (attempt: ProbeAttempt) => boolean): void {
    for (const [key, attempt] of this.#attempts) if (isOf(attempt)) this.#attempts.delete(key);
  }
}

interface RuntimeObjects {
  containers(): readonly SimulatedContainer[];
  sandboxes(): readonly SimulatedSandbox[];
}

/** Adds a key and returns whether the set already contained it. */
function addIfMissing(keys: Set<string>, key: string): boolean {
  const wasThere = keys.has(key);
  keys.add(key);
  return wasThere;
}

/** Events at the same time. None may be repeated with the same message about the same object. */
export class SimultaneousEvents {
  #elapsed = -1;
  readonly #recorded = new Set<string>();
  /** Number of failed images by pod UID, and of events by key. */
  readonly #counts = new Map<string, number>();
  /** Message of the last failure of the store. */
  #failed = '';
  /** Number of runtime objects of each pod that the agent can query, by UID. */
  readonly #objectCounts = new Map<string, number>();

  noteStatus({ uid, pod, removed }: PodChange): void {
    if (removed) this.#objectCounts.delete(uid);
    else this.#objectCounts.set(uid, containersOf(pod.spec).length + 1);
  }

  isRepeated({ reason, message, involved: { uid, fieldPath = '' } }: RecordedEvent, elapsed: number): boolean {
    if (elapsed !== this.#elapsed) {
      this.#elapsed = elapsed;
      this.#recorded.clear();
      this.#counts.clear();
    }
    // `EventCauses` checks these events.
    if (PROBE_ATTEMPT.test(message)) return false;
    if (IMAGE_FAILURE.test(message)) this.#count(uid);
    if (reason === 'StoreFailed') this.#failed = message;
    // The store can recover again after a different failure, e.g. if calls to several directories time out.
    const after = reason === 'StoreRecovered' ? this.#failed : '';
    const key = JSON.stringify([uid, fieldPath, reason, message, after]);
    // A failure has the same message for all runtime objects of a pod.
    if (reason === 'FailedSync') return this.#count(key) > (this.#objectCounts.get(uid) ?? Number.POSITIVE_INFINITY);
    // A container may wait for its own image and for those of its image volumes, with the same message.
    if (IMAGE_ERROR.test(message)) return this.#count(key) > Math.max(1, this.#counts.get(uid) ?? 0);
    // Registration reports every condition, and the first status those that differ from the conditions at the API
    // server.
    if (NODE_CONDITION.test(message)) return this.#count(key) > 2;
    return addIfMissing(this.#recorded, key);
  }

  #count(key: string): number {
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}

/** Messages about the conditions of a Node. */
const NODE_CONDITION = /^Node \S+ status is now: NodeHas/;
/** Messages about images that cannot be pulled (`EnsureImageExists` in pkg/kubelet/images/image_manager.go). */
const IMAGE_FAILURE =
  /^(Failed to (pull|inspect) image|Back-off pulling image|Container image) "|^Failed to apply default image tag /;
const IMAGE_ERROR = /^Error: \w+$/;
