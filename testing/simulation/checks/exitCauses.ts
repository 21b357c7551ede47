/** Tracks which exits of containers and sandboxes the agents have requested. All others have a different cause. */
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import { fullName, type SimulatedHost } from '../host/host.ts';
import type { CallFault, OutsideCall } from '../run/gate.ts';
import { moveRenamedKey, replaceRenamedId } from '../run/renamedIds.ts';
import type { ActionLog } from '../users/actionLog.ts';
import { MAX_EFFECT_DELAY_MS } from './causeTimes.ts';

/** Maximum delay until a new object appears in the runtime's lists, unless the lists are faulty. */
const LISTED_WITHIN_MS = 120_000;

const STOP_CALLS: ReadonlySet<string> = new Set(['stopContainer', 'stopPodSandbox', 'removePodSandbox']);

/** Whether the call is a refused start, after which the container has exited. */
const isRefusedStart = ({ target, name }: OutsideCall, fault: CallFault | undefined): boolean =>
  target === 'runtime' && name === 'startContainer' && (fault?.kind === 'fail' || fault?.kind === 'lostReply');

interface SimulationParts {
  readonly host: SimulatedHost;
  readonly actionLog: ActionLog;
}

export class ExitCauses {
  /**
   * The time of the last request to stop each object, by ID. If the agent dies before the request takes effect, the
   * request never does.
   */
  readonly #stopRequestedAt = new Map<string, number>();
  /**
   * Containers whose removal was requested. During a start, the runtime refuses to remove the container, which then
   * keeps running.
   */
  readonly #removalRequested = new Set<string>();
  /** The number of sandboxes that the current agent is creating, by pod UID. */
  readonly #pendingSandboxes = new Map<string, number>();

  /** Called when an agent starts. It did not request the sandboxes of earlier agents. */
  noteAgentStart(): void {
    this.#pendingSandboxes.clear();
  }

  /** Records requests to stop or remove objects and to create sandboxes, and refused starts. */
  noteCall({ host, actionLog }: SimulationParts, call: OutsideCall, fault?: CallFault): void {
    const { target, name, about } = call;
    if (target === 'runtime' && STOP_CALLS.has(name)) this.#stopRequestedAt.set(about, host.clock.elapsed);
    if (target === 'runtime' && name === 'removeContainer') this.#removalRequested.add(about);
    if (target === 'runtime' && name === 'runPodSandbox')
      this.#pendingSandboxes.set(about, this.#pendingSandboxesOf(about) + 1);
    const refused = isRefusedStart(call, fault) ? host.containers().find(({ id }) => id === about) : undefined;
    if (refused) actionLog.noteContainerCause(fullName(refused), refused.containerName, host.clock.elapsed);
  }

  /** Records exits and sandboxes that no running agent has requested. */
  noteEffect({ host: { clock }, actionLog }: SimulationParts, effect: RuntimeEffect): void {
    const { sandbox, container } = effect;
    moveRenamedKey(this.#stopRequestedAt, effect);
    replaceRenamedId(this.#removalRequested, effect);
    const pod = fullName(sandbox);
    if (this.isUnrequestedExit(effect, clock.elapsed)) {
      if (container === undefined) actionLog.noteCause(pod, clock.elapsed);
      else actionLog.noteContainerCause(pod, container.containerName, clock.elapsed);
    }
    // Two ready sandboxes are both removed as soon as a list shows them (C8).
    if (this.isUnrequestedSandbox(effect)) actionLog.noteCause(pod, clock.elapsed + LISTED_WITHIN_MS);
  }

  /**
   * Whether a sandbox or container has exited although no agent had requested it. Forgets requests about objects that
   * are removed or used again.
   */
  isUnrequestedExit({ kind, container, sandbox }: RuntimeEffect, now: number): boolean {
    const { id } = container ?? sandbox;
    const isRequested = [sandbox.id, id].some(
      (each) => this.#isStopRequested(each, now) || this.#removalRequested.has(each),
    );
    // A sandbox that could not be stopped may be used again. A container started in it may exit without a stop request.
    if (kind === 'started') this.#stopRequestedAt.delete(sandbox.id);
    if (kind === 'removed') this.#stopRequestedAt.delete(id);
    if (kind === 'started' || kind === 'removed') this.#removalRequested.delete(id);
    return kind === 'ended' && !isRequested;
  }

  /** Whether the effect is the start of a sandbox that only an earlier agent has requested. */
  isUnrequestedSandbox({ kind, container, sandbox: { podUid } }: RuntimeEffect): boolean {
    if (kind !== 'started' || container !== undefined) return false;
    const pendingCount = this.#pendingSandboxesOf(podUid);
    this.#pendingSandboxes.set(podUid, Math.max(0, pendingCount - 1));
    return pendingCount === 0;
  }

  #isStopRequested(id: string, now: number): boolean {
    const at = this.#stopRequestedAt.get(id);
    return at !== undefined && at + MAX_EFFECT_DELAY_MS >= now;
  }

  #pendingSandboxesOf = (podUid: string): number => this.#pendingSandboxes.get(podUid) ?? 0;
}
