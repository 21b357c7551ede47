/** Tracks which exits of containers and sandboxes the agents have requested. All others have a different cause. */
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import { fullName, type SimulatedHost } from '../host/host.ts';
import type { Fate, OutsideCall } from '../run/outside.ts';
import { renameIn, renameKey } from '../run/renamed.ts';
import type { Deeds } from '../users/deeds.ts';
import { ACTS_FOR_MS } from './touches.ts';

/** By then the runtime's objects are in its lists, unless the lists are faulty. */
const LISTED_WITHIN_MS = 120_000;

const ENDINGS: ReadonlySet<string> = new Set(['stopContainer', 'stopPodSandbox', 'removePodSandbox']);

/** A container whose start is refused has exited. */
const isRefusal = ({ room, name }: OutsideCall, fate: Fate | undefined): boolean =>
  room === 'runtime' && name === 'startContainer' && (fate?.kind === 'fail' || fate?.kind === 'lostReply');

interface Around {
  readonly host: SimulatedHost;
  readonly deeds: Deeds;
}

export class Endings {
  /**
   * The time of the last request to stop each object. If the agent died before the request had an effect, it has none.
   */
  readonly #asked = new Map<string, number>();
  /**
   * Containers whose removal was requested. The runtime refuses that during a start, and the container then keeps
   * running.
   */
  readonly #removals = new Set<string>();
  /** The number of sandboxes that the current agent is creating, by pod UID. */
  readonly #awaited = new Map<string, number>();

  /** Called when an agent starts. It did not request the sandboxes of earlier agents. */
  beginLife(): void {
    this.#awaited.clear();
  }

  /** Records the request of a call. */
  note({ host, deeds }: Around, call: OutsideCall, fate?: Fate): void {
    const { room, name, about } = call;
    if (room === 'runtime' && ENDINGS.has(name)) this.#asked.set(about, host.clock.elapsed);
    if (room === 'runtime' && name === 'removeContainer') this.#removals.add(about);
    if (room === 'runtime' && name === 'runPodSandbox') this.#awaited.set(about, this.#awaitedOf(about) + 1);
    const refused = isRefusal(call, fate) ? host.containers().find(({ id }) => id === about) : undefined;
    if (refused) deeds.touchContainer(fullName(refused), refused.containerName, host.clock.elapsed);
  }

  /** Records an exit or sandbox that no agent has requested. */
  noteEffect({ host: { clock }, deeds }: Around, effect: RuntimeEffect): void {
    const { sandbox, container } = effect;
    renameKey(this.#asked, effect);
    renameIn(this.#removals, effect);
    const pod = fullName(sandbox);
    if (this.isByOthers(effect, clock.elapsed)) {
      if (container === undefined) deeds.touch(pod, clock.elapsed);
      else deeds.touchContainer(pod, container.containerName, clock.elapsed);
    }
    // Of two ready sandboxes neither stays (C8), as soon as a list shows both.
    if (this.isSurplus(effect)) deeds.touch(pod, clock.elapsed + LISTED_WITHIN_MS);
  }

  /**
   * Whether something has exited that no agent had requested to stop. Forgets requests about objects that are removed
   * or used again.
   */
  isByOthers({ kind, container, sandbox }: RuntimeEffect, now: number): boolean {
    const { id } = container ?? sandbox;
    const isAsked = [sandbox.id, id].some((each) => this.#isAsked(each, now) || this.#removals.has(each));
    // A sandbox that could not be stopped may be used again. A container started in it may exit without a stop request.
    if (kind === 'started') this.#asked.delete(sandbox.id);
    if (kind === 'removed') this.#asked.delete(id);
    if (kind === 'started' || kind === 'removed') this.#removals.delete(id);
    return kind === 'ended' && !isAsked;
  }

  /** Whether a pod has got a sandbox that only an earlier agent has requested. */
  isSurplus({ kind, container, sandbox: { podUid } }: RuntimeEffect): boolean {
    if (kind !== 'started' || container !== undefined) return false;
    const awaited = this.#awaitedOf(podUid);
    this.#awaited.set(podUid, Math.max(0, awaited - 1));
    return awaited === 0;
  }

  #isAsked(id: string, now: number): boolean {
    const at = this.#asked.get(id);
    return at !== undefined && at + ACTS_FOR_MS >= now;
  }

  #awaitedOf = (podUid: string): number => this.#awaited.get(podUid) ?? 0;
}
