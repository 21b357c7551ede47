/** Pods of another agent that come to the cgroups of this agent's pods, and go again. */
import type { SimulatedRuntime } from '../cri/simulated/runtime.ts';
import type { RuntimeEffect } from '../cri/simulated/views.ts';
import type { CgroupTree } from '../host/simulated/cgroupTree.ts';
import { type OtherPod, runOther, VISITING, visitor } from './otherPods.ts';

export class Visits {
  readonly #runtime: SimulatedRuntime;
  /** All that is of other agents at the runtime, with whether it is to run. */
  readonly #runs: Map<string, boolean>;
  /** The pods that are there, by their UIDs. */
  readonly #pods = new Map<string, OtherPod>();

  constructor(runtime: SimulatedRuntime, runs: Map<string, boolean>) {
    this.#runtime = runtime;
    this.#runs = runs;
  }

  /** Of those that the runtime has: as long as it has nothing of a pod, nobody can know whose its cgroup is. */
  get cgroups(): readonly string[] {
    if (this.#pods.size === 0) return [];
    const shown = new Set(
      [...this.#runtime.sandboxes()].flatMap((each) => (each.namespace === VISITING ? each.podUid : [])),
    );
    return [...this.#pods].flatMap(([uid, { cgroup }]) => (shown.has(uid) ? [cgroup] : []));
  }

  /** Its agent makes it, as far as the runtime lets it; one of a UID that runs here already does not come. */
  come(uid: string, image: string, cgroups: CgroupTree): void {
    const pod = visitor(uid);
    const runs = [...this.#runtime.sandboxes()].some(({ podUid, ready }) => podUid === uid && ready);
    if (runs || this.#pods.has(uid) || cgroups.paths.includes(pod.cgroup)) return;
    this.#pods.set(uid, pod);
    cgroups.add(pod.cgroup);
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
    this.#pods.delete(uid);
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
