/** Pods of another agent that come to the cgroups of this agent's pods, and go again. */

import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { type OtherPod, runOther, VISITING, visitor } from '../host/otherPods.ts';
import type { Schedule } from '../run/schedule.ts';

/** The host that they come to: `cgroups` are those of the present boot. */
export interface Visited {
  readonly cgroups: CgroupTree;
  readonly clock: Pick<Schedule, 'setTimeout'>;
}

/** How long the runtime has had something of a pod before its agent has made its cgroup for good, at least. */
const SETTLES_MS = 1_000;

export class Visits {
  readonly #runtime: SimulatedRuntime;
  /** All that is of other agents at the runtime, with whether it is to run. */
  readonly #runs: Map<string, boolean>;
  /** The pods that are there, by their UIDs. */
  readonly #pods = new Map<string, OtherPod>();
  /** Those that lists of the runtime showed when it was looked at last, and those that they had shown before that. */
  readonly #wasShown = new Set<string>();
  readonly #settled = new Set<string>();

  constructor(runtime: SimulatedRuntime, runs: Map<string, boolean>) {
    this.#runtime = runtime;
    this.#runs = runs;
  }

  /** Of those that have settled, and that the runtime has: else nobody can know whose the cgroup is. */
  get cgroups(): readonly string[] {
    if (this.#pods.size === 0) return [];
    const there = [...this.#runtime.sandboxes()];
    const known = [...this.#pods].filter(([uid]) => this.#settled.has(uid) && there.some(isOf(uid)));
    return known.map(([, { cgroup }]) => cgroup);
  }

  /** Its agent makes it, as far as the runtime lets it; one of a UID that runs here already does not come. */
  come(uid: string, image: string, host: Visited): void {
    const { cgroups, clock } = host;
    const pod = visitor(uid);
    const runs = [...this.#runtime.sandboxes()].some(({ podUid, ready }) => podUid === uid && ready);
    if (runs || this.#pods.has(uid) || cgroups.paths.includes(pod.cgroup)) return;
    this.#pods.set(uid, pod);
    cgroups.add(pod.cgroup);
    clock.setTimeout(() => this.#settle(pod, uid, host), SETTLES_MS);
    const swept = () => void (this.#pods.get(uid) === pod || this.#sweep(uid));
    runOther(this.#runtime, pod, image).then(swept, swept);
  }

  /** Its agent ends what runs in it. */
  end(uid: string): void {
    if (!this.#pods.has(uid)) return;
    for (const { id, state } of this.#containers(uid)) {
      this.#runs.set(id, false);
      if (state === 'running') this.#runtime.exitContainer(id, 0);
    }
  }

  /** Its agent takes it away with all that is there of it. */
  leave(uid: string, cgroups: CgroupTree): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    for (const known of [this.#pods, this.#wasShown, this.#settled]) known.delete(uid);
    this.#sweep(uid);
    const isUsed = [...this.#runtime.sandboxes()].some(({ podUid }) => podUid === uid);
    // As kubelets do with a UID that they do not know any more: what another agent has left of it goes as well. Where an
    // agent of here may not change cgroups, only its own agent can have made its own.
    const isToGo = (path: string) => !isUsed || (cgroups.isReadOnly && path === pod.cgroup);
    for (const path of cgroups.paths) if (path.endsWith(`/pod${uid}`) && isToGo(path)) cgroups.drop(path);
  }

  /** What of them has come to be is theirs from then on, also while they wait for an answer. */
  noteEffect({ kind, sandbox, container }: RuntimeEffect): void {
    if (sandbox.namespace !== VISITING) return;
    const { id } = container ?? sandbox;
    if (kind === 'created') this.#runs.set(id, false);
    if (kind === 'started') this.#runs.set(id, true);
    // It may have been killed with the cgroup by an agent that nothing could show it to. One that was starting while its pod
    // left ends after it is gone.
    if (kind === 'ended' && this.#runs.has(id) && !this.#settled.has(sandbox.podUid)) this.#runs.set(id, false);
  }

  /**
   * An agent that has asked just before the runtime had anything of it may remove its cgroup: nobody can do better. What
   * starts in it makes it again.
   */
  #settle(pod: OtherPod, uid: string, host: Visited): void {
    if (this.#pods.get(uid) !== pod) return;
    if (this.#wasShown.has(uid)) {
      host.cgroups.add(pod.cgroup);
      this.#settled.add(uid);
      return;
    }
    const shown = [...this.#runtime.sandboxes()].filter(({ id }) => this.#runtime.lists.showsSandbox(id));
    if (shown.some(isOf(uid))) this.#wasShown.add(uid);
    host.clock.setTimeout(() => this.#settle(pod, uid, host), SETTLES_MS);
  }

  #sweep(uid: string): void {
    const containers = this.#containers(uid).map(({ id }) => id);
    const sandboxes = [...this.#runtime.sandboxes()].filter(isOf(uid)).map(({ id }) => id);
    for (const id of sandboxes) this.#runtime.removeSandbox(id);
    for (const id of [...sandboxes, ...containers]) this.#runs.delete(id);
  }

  #containers = (uid: string) => [...this.#runtime.containers()].filter(isOf(uid));
}

const isOf = (uid: string) => (each: { readonly podUid: string; readonly namespace: string }) =>
  each.podUid === uid && each.namespace === VISITING;
