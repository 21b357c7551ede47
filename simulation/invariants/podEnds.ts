/** When and how the containers of pods have ended: what explains that they do not run, and that their pod has ended. */
import type { PodChange } from '../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../cri/simulated/views.ts';
import { isSidecar } from '../../pod/api/containers.ts';
import type { Container } from '../../pod/api/schema/container.ts';
import type { Pod, PodSpec } from '../../pod/api/schema/pod.ts';
import type { Watched } from './invariant.ts';

/** By the clock of the node, and by the time that no jump of it changes. */
interface Moment {
  readonly at: number;
  readonly elapsed: number;
}

export interface ContainerEnd extends Moment {
  /** Undefined of one that was removed while it ran: nobody knows how it ended. */
  readonly exitCode: number | undefined;
}

export class PodEnds {
  readonly #watched: Pick<Watched, 'host'>;
  readonly #ends = new Map<string, Map<string, Moment & { readonly container: SimulatedContainer }>>();
  /** All that pods ever had: one of a lower priority may have ended for them. */
  readonly #priorities = new Set<number>();

  constructor(watched: Pick<Watched, 'host'>) {
    this.#watched = watched;
  }

  note({ kind, sandbox: { podUid: uid }, container }: RuntimeEffect): void {
    const isEnd = kind === 'ended' || (kind === 'removed' && container?.state === 'running');
    if (!isEnd || container === undefined) return;
    const { clock } = this.#watched.host;
    const ends = this.#ends.get(uid) ?? new Map();
    this.#ends.set(uid, ends.set(container.containerName, { at: clock.now(), elapsed: clock.elapsed, container }));
  }

  noteStatus({ uid, removed, pod: { spec } }: PodChange): void {
    if (spec.priority !== undefined) this.#priorities.add(spec.priority);
    if (removed) this.#ends.delete(uid);
  }

  lastEndOf(uid: string, name: string): ContainerEnd | undefined {
    const found = this.#ends.get(uid)?.get(name);
    return found && { at: found.at, elapsed: found.elapsed, exitCode: found.container.exitCode };
  }

  /** Whether there is a reason for a pod to have ended as it has; `versions`: the manifests that it had. */
  explain({ metadata: { uid }, spec, status }: Pod, versions: readonly Pod[]): boolean {
    if (status?.reason === 'DeadlineExceeded') return versions.some((each) => each.spec.activeDeadlineSeconds);
    if (status?.reason === 'Preempting') return [...this.#priorities].some((each) => each > (spec.priority ?? 0));
    if (status?.reason) return false;
    const endOf = ({ name }: Container) => this.lastEndOf(uid, name);
    const inits = (spec.initContainers ?? []).filter((each) => !isSidecar(each));
    const hasFailed = (each: Container) => endOf(each) !== undefined && endOf(each)?.exitCode !== 0;
    if (status?.phase === 'Failed' && inits.some((each) => hasFailed(each) && mayStayEnded(spec, each, endOf(each))))
      return true;
    const { containers } = spec;
    return (
      containers.every((each) => mayStayEnded(spec, each, endOf(each))) &&
      (status?.phase === 'Succeeded') === containers.every((each) => endOf(each)?.exitCode === 0)
    );
  }
}

/** Whether its policies let a container stay as it has ended; or as it has never run, where nothing is to run again. */
export function mayStayEnded(spec: PodSpec, container: Container, end: ContainerEnd | undefined): boolean {
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  const exitCode = end?.exitCode;
  const { restartPolicyRules = [] } = container;
  const isOfRule = restartPolicyRules.some(
    ({ exitCodes }) =>
      exitCodes !== undefined &&
      exitCode !== undefined &&
      exitCodes.values?.includes(exitCode) === (exitCodes.operator === 'In'),
  );
  if (isOfRule || policy === 'Always') return false;
  return policy === 'Never' || exitCode === 0 || (end !== undefined && exitCode === undefined);
}
