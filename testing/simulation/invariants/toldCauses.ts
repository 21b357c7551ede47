/** What an event says has happened, where it is not a run of a container or an image: whether it can have happened again. */
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../../../cri/simulated/objects/views.ts';
import { containersOf } from '../../../kubernetes/api/containers.ts';
import type { OutsideCall } from '../run/outside.ts';
import { nameIn } from './ownReasons.ts';

type Heard = Parameters<EventSink>[0];

/** Why a pod ends: until it is gone it does not end once more. */
const OF_A_POD: ReadonlySet<string> = new Set(['DeadlineExceeded', 'Preempting']);

/** Its message says what is to be: a resize to that, and none to anything else, lies between two that say the same. */
const OF_A_RESIZE: ReadonlySet<string> = new Set(['ResizeStarted', 'ResizeCompleted']);

/** What a try has come to, and of which probe. */
const OF_A_TRY = /^(Startup|Liveness|Readiness) probe (failed|warning|errored)/;

/** The container that a try was of, and when that was told. */
interface Tried {
  readonly uid: string;
  readonly container: string;
  readonly elapsed: number;
}

/** What was told since it can have happened last. */
export class ToldCauses {
  readonly #ends = new Set<string>();
  readonly #resizes = new Map<string, string>();
  readonly #sandboxes = new Set<string>();
  readonly #tries = new Map<string, Tried>();
  /** All containers of this life by their ids, also what the runtime has lost or has under another id: it may be asked for. */
  readonly #known: Map<string, SimulatedContainer>;
  /** The same of sandboxes: the UIDs of their pods. */
  readonly #podUids: Map<string, string>;

  /** `there`: what there is as it begins. */
  constructor(there?: There) {
    this.#known = new Map(there?.containers().map((each) => [each.id, each]));
    this.#podUids = new Map(there?.sandboxes().map(({ id, podUid }) => [id, podUid]));
  }

  /** Whether it was told before, and nothing has happened since that it could tell of. */
  isRepeated(event: Heard, elapsed: number): boolean {
    const { reason, message, involved } = event;
    const { uid } = involved;
    if (OF_A_POD.has(reason)) return isIn(this.#ends, `${reason} ${uid}`);
    if (OF_A_RESIZE.has(reason)) {
      const before = this.#resizes.get(uid);
      this.#resizes.set(uid, message);
      return before === message;
    }
    if (reason === 'SandboxChanged') return isIn(this.#sandboxes, uid);
    return this.#isTriedBefore(event, elapsed);
  }

  /** The next try may come at once after one that took long; only one that could not be made has called nobody. */
  #isTriedBefore({ message, involved: { uid, fieldPath } }: Heard, elapsed: number): boolean {
    const [, probe, verdict] = OF_A_TRY.exec(message) ?? [];
    if (probe === undefined) return false;
    const container = nameIn(fieldPath);
    const key = `${uid} ${container} ${probe}`;
    const before = this.#tries.get(key);
    this.#tries.set(key, { uid, container, elapsed });
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
      // A pod whose manifest is recreated starts again, which its status shows only later. A pod that ends creates nothing.
      if (kind === 'created') this.#forgetEnds(podUid);
      return;
    }
    this.#podUids.set(id, podUid);
    if (kind === 'created') this.#sandboxes.delete(podUid);
  }

  /** What is asked for may come to nothing, and is told again when it is asked for once more, as a kubelet does. */
  noteCall({ room, name, about }: OutsideCall): void {
    if (room === 'network') this.#forgetTries(() => true);
    if (room !== 'runtime') return;
    if (name === 'execSync') {
      const found = this.#known.get(about);
      this.#forgetTries(({ uid, container }) => found?.podUid === uid && found.containerName === container);
    }
    if (name !== 'stopPodSandbox') return;
    const uid = this.#podUids.get(about);
    if (uid !== undefined) this.#sandboxes.delete(uid);
  }

  #forgetEnds(uid: string): void {
    for (const reason of OF_A_POD) this.#ends.delete(`${reason} ${uid}`);
  }

  #forgetTries(isOf: (tried: Tried) => boolean): void {
    for (const [key, tried] of this.#tries) if (isOf(tried)) this.#tries.delete(key);
  }
}

/** What the runtime has. */
interface There {
  containers(): readonly SimulatedContainer[];
  sandboxes(): readonly SimulatedSandbox[];
}

/** Whether it was there before; it is there from now on. */
function isIn(told: Set<string>, key: string): boolean {
  const wasThere = told.has(key);
  told.add(key);
  return wasThere;
}

/** What is told at one moment: nothing that happens happens twice then, with the same words about the same object. */
export class ToldNow {
  #moment = -1;
  readonly #told = new Set<string>();
  /** How many images could not be had, by their pods; how often a container was told of that. */
  readonly #counts = new Map<string, number>();
  /** Why the store has failed last. */
  #failed = '';
  /** Of how many things of each pod the runtime can be asked. */
  readonly #asked = new Map<string, number>();

  noteStatus({ uid, pod, removed }: PodChange): void {
    if (removed) this.#asked.delete(uid);
    else this.#asked.set(uid, containersOf(pod.spec).length + 1);
  }

  isRepeated({ reason, message, involved: { uid, fieldPath = '' } }: Heard, elapsed: number): boolean {
    if (elapsed !== this.#moment) {
      this.#moment = elapsed;
      this.#told.clear();
      this.#counts.clear();
    }
    // Whoever counts these knows more.
    if (OF_A_TRY.test(message)) return false;
    if (OF_AN_IMAGE.test(message)) this.#count(uid);
    if (reason === 'StoreFailed') this.#failed = message;
    // What has failed once more can recover once more: the time of a call to each of several folders may be over.
    const after = reason === 'StoreRecovered' ? this.#failed : '';
    const key = JSON.stringify([uid, fieldPath, reason, message, after]);
    // Of each of its containers that the runtime does not answer for a pod is told in the same words.
    if (reason === 'FailedSync') return this.#count(key) > (this.#asked.get(uid) ?? Number.POSITIVE_INFINITY);
    // A container may wait for its own image and for those that it mounts: of each it is told in the same words.
    if (OF_ANY_IMAGE.test(message)) return this.#count(key) > Math.max(1, this.#counts.get(uid) ?? 0);
    return isIn(this.#told, key);
  }

  #count(key: string): number {
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}

/** Which image could not be had, and that one could not (`EnsureImageExists` in pkg/kubelet/images/image_manager.go). */
const OF_AN_IMAGE =
  /^(Failed to (pull|inspect) image|Back-off pulling image|Container image) "|^Failed to apply default image tag /;
const OF_ANY_IMAGE = /^Error: \w+$/;
