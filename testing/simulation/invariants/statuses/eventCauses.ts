/** Whether the cause of an event can have occurred again, except for container runs and images. */
import type { EventSink } from '../../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../../../../cri/simulated/objects/views.ts';
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { nameIn } from '../containers/ownReasons.ts';

type RecordedEvent = Parameters<EventSink>[0];

/** Reasons that end a pod. They cannot occur again until the pod is gone. */
const POD_END_REASONS: ReadonlySet<string> = new Set(['DeadlineExceeded', 'Preempting']);

/** Events of a resize. Between two with the same message there must be a different one. */
const RESIZE_REASONS: ReadonlySet<string> = new Set(['ResizeStarted', 'ResizeCompleted']);

/** The result of a probe attempt. */
const PROBE_ATTEMPT = /^(Startup|Liveness|Readiness) probe (failed|warning|errored)/;

/** The container and time of a probe attempt. */
interface ProbeAttempt {
  readonly uid: string;
  readonly container: string;
  readonly elapsed: number;
}

/** The causes of events since they can have occurred last. */
export class EventCauses {
  readonly #ends = new Set<string>();
  readonly #resizes = new Map<string, string>();
  readonly #sandboxes = new Set<string>();
  readonly #attempts = new Map<string, ProbeAttempt>();
  /** All containers during the life of the agent, by ID, including those that the runtime has forgotten or renamed. */
  readonly #known: Map<string, SimulatedContainer>;
  /** The pod UIDs of all sandboxes. */
  readonly #podUids: Map<string, string>;

  /** `there` contains the objects that exist at the start. */
  constructor(there?: RuntimeObjects) {
    this.#known = new Map(there?.containers().map((each) => [each.id, each]));
    this.#podUids = new Map(there?.sandboxes().map(({ id, podUid }) => [id, podUid]));
  }

  /** Whether an event was recorded before and its cause cannot have occurred again. */
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
   * Checks probe attempts. The next attempt may immediately follow one that took long. Only an attempt that could not
   * be made has called nothing.
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
      // A pod whose manifest is recreated starts again, which its status shows only later. A pod that ends creates
      // nothing.
      if (kind === 'created') this.#forgetEnds(podUid);
      return;
    }
    this.#podUids.set(id, podUid);
    if (kind === 'created') this.#sandboxes.delete(podUid);
  }

  /** Forgets causes for which a call is made again. As in a kubelet, a repeated attempt records a repeated event. */
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

  #forgetAttempts(isOf: (tried: ProbeAttempt) => boolean): void {
    for (const [key, tried] of this.#attempts) if (isOf(tried)) this.#attempts.delete(key);
  }
}

interface RuntimeObjects {
  containers(): readonly SimulatedContainer[];
  sandboxes(): readonly SimulatedSandbox[];
}

/** Adds a key and returns whether it was in the set already. */
function addIfMissing(told: Set<string>, key: string): boolean {
  const wasThere = told.has(key);
  told.add(key);
  return wasThere;
}

/** Events at one point in time. None may be repeated with the same message about the same object. */
export class SimultaneousEvents {
  #moment = -1;
  readonly #told = new Set<string>();
  /** Counts of failed images, by pod, and of events about them. */
  readonly #counts = new Map<string, number>();
  /** The last failure of the store. */
  #failed = '';
  /** The number of runtime objects per pod that can be queried. */
  readonly #asked = new Map<string, number>();

  noteStatus({ uid, pod, removed }: PodChange): void {
    if (removed) this.#asked.delete(uid);
    else this.#asked.set(uid, containersOf(pod.spec).length + 1);
  }

  isRepeated({ reason, message, involved: { uid, fieldPath = '' } }: RecordedEvent, elapsed: number): boolean {
    if (elapsed !== this.#moment) {
      this.#moment = elapsed;
      this.#told.clear();
      this.#counts.clear();
    }
    // `ToldCauses` checks these events.
    if (PROBE_ATTEMPT.test(message)) return false;
    if (IMAGE_FAILURE.test(message)) this.#count(uid);
    if (reason === 'StoreFailed') this.#failed = message;
    // After a different failure the store can recover again, e.g. if calls to several directories time out.
    const after = reason === 'StoreRecovered' ? this.#failed : '';
    const key = JSON.stringify([uid, fieldPath, reason, message, after]);
    // All runtime objects of a pod have the same message.
    if (reason === 'FailedSync') return this.#count(key) > (this.#asked.get(uid) ?? Number.POSITIVE_INFINITY);
    // A container may wait for its own image and for those of its image volumes, with the same message.
    if (IMAGE_ERROR.test(message)) return this.#count(key) > Math.max(1, this.#counts.get(uid) ?? 0);
    // Registration reports every condition, and the first status those that differ from the server's.
    if (NODE_CONDITION.test(message)) return this.#count(key) > 2;
    return addIfMissing(this.#told, key);
  }

  #count(key: string): number {
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}

/** The events of a Node's conditions. */
const NODE_CONDITION = /^Node \S+ status is now: NodeHas/;
/** The events of images that cannot be pulled (`EnsureImageExists` in pkg/kubelet/images/image_manager.go). */
const IMAGE_FAILURE =
  /^(Failed to (pull|inspect) image|Back-off pulling image|Container image) "|^Failed to apply default image tag /;
const IMAGE_ERROR = /^Error: \w+$/;
