/** Temporary pods of a different agent in the cgroups of this agent's pods. */

import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { type ForeignPod, runForeignPod, TEMPORARY_NAMESPACE, temporaryPod } from '../host/foreignPods.ts';
import type { CgroupAccess } from '../host/hostCgroups.ts';
import type { Schedule } from '../run/schedule.ts';

/** The host that the pods run on. `cgroups` are those since the last boot. */
export interface PodHost {
  readonly cgroups: CgroupTree;
  /** This agent's access to the cgroups. */
  readonly cgroupAccess: CgroupAccess;
  readonly clock: Pick<Schedule, 'setTimeout'>;
}

/** Minimum time between the first list that shows a pod and the final creation of its cgroup. */
const SETTLE_MS = 1_000;

export class TemporaryPods {
  readonly #runtime: SimulatedRuntime;
  /** Whether each sandbox or container of any other agent should be running, by ID. */
  readonly #runs: Map<string, boolean>;
  /** The temporary pods by UID. */
  readonly #pods = new Map<string, ForeignPod>();
  /** The pods that a list of the runtime has shown, and those whose cgroup has been created again since. */
  readonly #wasShown = new Set<string>();
  readonly #settled = new Set<string>();

  constructor(runtime: SimulatedRuntime, runs: Map<string, boolean>) {
    this.#runtime = runtime;
    this.#runs = runs;
  }

  /** The cgroups of settled pods that the runtime has. The owner of any other cgroup is ambiguous. */
  get cgroups(): readonly string[] {
    if (this.#pods.size === 0) return [];
    const sandboxes = [...this.#runtime.sandboxes()];
    const known = [...this.#pods].filter(([uid]) => this.#settled.has(uid) && sandboxes.some(isOf(uid)));
    return known.map(([, { cgroup }]) => cgroup);
  }

  /** Starts a temporary pod, unless a pod with this UID is running already. */
  start(uid: string, image: string, host: PodHost): void {
    const { cgroups, clock } = host;
    const pod = temporaryPod(uid);
    const runs = [...this.#runtime.sandboxes()].some(({ podUid, ready }) => podUid === uid && ready);
    if (runs || this.#pods.has(uid) || cgroups.paths.includes(pod.cgroup)) return;
    this.#pods.set(uid, pod);
    cgroups.add(pod.cgroup);
    clock.setTimeout(() => this.#settle(pod, uid, host), SETTLE_MS);
    const sweepIfRemoved = () => void (this.#pods.get(uid) === pod || this.#sweep(uid));
    runForeignPod(this.#runtime, pod, image).then(sweepIfRemoved, sweepIfRemoved);
  }

  /** Stops the containers of a pod. */
  stop(uid: string): void {
    if (!this.#pods.has(uid)) return;
    for (const { id, state } of this.#containers(uid)) {
      this.#runs.set(id, false);
      if (state === 'running') this.#runtime.exitContainer(id, 0);
    }
  }

  /** Removes a pod and everything that is left of it. */
  remove(uid: string, { cgroups, cgroupAccess }: PodHost): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    for (const known of [this.#pods, this.#wasShown, this.#settled]) known.delete(uid);
    this.#sweep(uid);
    const isUsed = [...this.#runtime.sandboxes()].some(({ podUid }) => podUid === uid);
    // The kubelet removes the cgroups of unknown UIDs, including those that a different agent has left. If this agent
    // does not change cgroups, only the other agent can have created the pod's cgroup.
    const isForeign = cgroups.isReadOnly || cgroupAccess === 'unused';
    const shouldRemove = (path: string) => !isUsed || (isForeign && path === pod.cgroup);
    for (const path of cgroups.paths) if (path.endsWith(`/pod${uid}`) && shouldRemove(path)) cgroups.drop(path);
  }

  /** Records objects in the namespace of temporary pods as foreign as soon as they are created. */
  noteEffect({ kind, sandbox, container }: RuntimeEffect): void {
    if (sandbox.namespace !== TEMPORARY_NAMESPACE) return;
    const { id } = container ?? sandbox;
    if (kind === 'created') this.#runs.set(id, false);
    if (kind === 'started') this.#runs.set(id, true);
    // The agent may have killed the container with its cgroup before any list showed it. A container that was starting
    // while its pod left exits after it.
    if (kind === 'ended' && this.#runs.has(id) && !this.#settled.has(sandbox.podUid)) this.#runs.set(id, false);
  }

  /**
   * Creates the cgroup again and marks the pod as settled, once a list of the runtime has shown it. An agent that
   * listed the runtime's objects just before the pod appeared may have removed the cgroup, which it cannot avoid.
   */
  #settle(pod: ForeignPod, uid: string, host: PodHost): void {
    if (this.#pods.get(uid) !== pod) return;
    if (this.#wasShown.has(uid)) {
      host.cgroups.add(pod.cgroup);
      this.#settled.add(uid);
      return;
    }
    const shown = [...this.#runtime.sandboxes()].filter(({ id }) => this.#runtime.listResults.showsSandbox(id));
    if (shown.some(isOf(uid))) this.#wasShown.add(uid);
    host.clock.setTimeout(() => this.#settle(pod, uid, host), SETTLE_MS);
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
  each.podUid === uid && each.namespace === TEMPORARY_NAMESPACE;
