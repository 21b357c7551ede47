/** Faults of the runtime that last for a while. */
import type { EventDeliveryMode } from '../../../cri/simulated/objects/events.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { Random } from '../random.ts';
import { replaceRenamedId } from '../run/renamedIds.ts';
import type { Schedule } from '../run/schedule.ts';
import type { TemporaryFaults } from './temporaryFaults.ts';

/** The faults of the event stream. */
export type EventFault = 'paused' | 'dropped' | 'doubled' | 'late' | 'reordered' | 'some';

/** A restart of the runtime. */
export interface RuntimeRestart {
  readonly downMs: number;
  readonly keepContainers: boolean;
  /** The share of the sandboxes that the runtime forgets, with their containers, from 0 to 1. */
  readonly forgets?: number;
  /** The share of the sandboxes that get different IDs, with their containers, from 0 to 1. */
  readonly renames?: number;
  /** Whether the runtime recovers the objects that it had forgotten. */
  readonly recalls?: boolean;
  /** Whether the runtime cannot determine the state of some of the running containers. */
  readonly hasUnknown?: boolean;
}

/** Number of pod addresses without a fault, which exceeds the number of pods in any story. */
const ADDRESSES = 65_000;
/** Capacity of the image file system, and a capacity that is smaller than one image. */
const IMAGE_DISK_BYTES = 100e9;
const FULL_DISK_BYTES = 1e6;
const LATEST_EVENT_MS = 5_000;

export class RuntimeFaults {
  readonly #runtime: SimulatedRuntime;
  readonly #clock: Schedule;
  readonly #temporaryFaults: TemporaryFaults;
  readonly #random: Random;
  /** The sandboxes and containers that the runtime forgot or did not list for a while although they ran. */
  readonly #hidden = new Set<string>();
  readonly #unknown = new Set<string>();
  /** The containers whose start time the runtime has lost. */
  readonly #withoutStart = new Set<string>();
  /** The new IDs of renamed objects, keyed by the former ID. */
  readonly #currentIds = new Map<string, string>();
  /** Number of outages so far, so that the end of one outage does not end the next. */
  #outages = 0;

  constructor(
    runtime: SimulatedRuntime,
    { clock, temporaryFaults, random }: { clock: Schedule; temporaryFaults: TemporaryFaults; random: Random },
  ) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#temporaryFaults = temporaryFaults;
    this.#random = random;
  }

  wasHidden(id: string): boolean {
    return this.#hidden.has(id);
  }

  noteEffect(effect: RuntimeEffect): void {
    if (effect.kind === 'renamed') this.#currentIds.set(effect.formerId, (effect.container ?? effect.sandbox).id);
    replaceRenamedId(this.#hidden, effect);
  }

  /** Returns the current ID of an object that had this ID. */
  currentId(id: string): string {
    const next = this.#currentIds.get(id);
    return next === undefined ? id : this.currentId(next);
  }

  /** Called when an agent starts. The agent cannot know the containers that no list shows yet. */
  noteAgentStart(): void {
    for (const { id } of this.#runtime.containers())
      if (!this.#runtime.listResults.showsContainer(id)) this.#hidden.add(id);
  }

  /** Whether the runtime could not determine the state of this container after a restart. */
  isUnknown(id: string): boolean {
    return this.#unknown.has(id);
  }

  /**
   * Whether the runtime has lost the start time of this container. It reports a later one if the container is still
   * running.
   */
  hasLostStart(id: string): boolean {
    return this.#withoutStart.has(id);
  }

  /**
   * Restarts the runtime. Only objects for which `isPicked` returns true are forgotten, renamed or in an unknown state.
   */
  restart(
    { downMs, keepContainers, forgets = 0, renames = 0, recalls = false, hasUnknown = false }: RuntimeRestart,
    isPicked: (id: string) => boolean,
  ): void {
    if (this.#runtime.isUp) this.#outages += 1;
    const outage = this.#outages;
    this.#runtime.down();
    this.#clock.setTimeout(() => {
      // A power cut may have restarted the runtime already.
      if (this.#runtime.isUp || outage !== this.#outages) return;
      const forget = this.#randomSubset(forgets, isPicked);
      this.#unknown.clear();
      const unknown = ({ id }: SimulatedContainer) => {
        const isUnknown = hasUnknown && isPicked(id) && this.#random.chance(0.3);
        if (isUnknown) this.#unknown.add(id);
        return isUnknown;
      };
      const rename = ({ id }: SimulatedSandbox) => isPicked(id) && this.#random.chance(renames);
      const renaming = renames > 0 ? { rename } : {};
      const unread = ({ id }: SimulatedContainer) => {
        const isLost = this.#random.chance(0.5);
        if (isLost) this.#withoutStart.add(id);
        return isLost;
      };
      this.#runtime.restart({ keepContainers, forget, ...renaming, recall: recalls, unknown, unread });
    }, downMs);
  }

  stall(forMs: number): void {
    this.#runtime.stall();
    this.#temporaryFaults.start('stall', forMs, () => this.#runtime.resume());
  }

  deliverEvents(fault: EventFault, forMs: number): void {
    this.#runtime.events.setDeliveryMode(this.#delivery(fault));
    this.#temporaryFaults.start('events', forMs, () => this.#runtime.events.setDeliveryMode('normal'));
  }

  showLists(show: 'stale' | 'shuffled', forMs: number): void {
    const { listResults } = this.#runtime;
    if (show === 'stale') listResults.freeze();
    else listResults.shuffle(this.#random.fraction);
    this.#temporaryFaults.start(`${show} lists`, forMs, () =>
      show === 'stale' ? listResults.thaw() : listResults.shuffle(),
    );
  }

  breakNetwork(forMs: number): void {
    this.#runtime.network.fail();
    this.#temporaryFaults.start('network', forMs, () => this.#runtime.network.recover());
  }

  /** Prevents new sandboxes from getting addresses. */
  exhaustAddresses(forMs: number): void {
    this.#runtime.network.limitAddresses(0);
    this.#temporaryFaults.start('addresses', forMs, () => this.#runtime.network.limitAddresses(ADDRESSES));
  }

  /** Makes the image file system too small for the images, so that it is full whichever images are removed. */
  fillImageDisk(forMs: number): void {
    this.#runtime.imageCapacityBytes = FULL_DISK_BYTES;
    this.#temporaryFaults.start('image disk', forMs, () => {
      this.#runtime.imageCapacityBytes = IMAGE_DISK_BYTES;
    });
  }

  /** Makes pulls of these images fail. */
  breakRegistry(images: readonly string[], forMs: number): void {
    const error = { message: 'failed to do request: dial tcp: lookup registry.local: no such host' };
    for (const image of images) this.#runtime.images.publish(image, { error });
    this.#temporaryFaults.start('registry', forMs, () => {
      for (const image of images) this.#runtime.images.publish(image, {});
    });
  }

  #randomSubset(share: number, isPicked: (id: string) => boolean) {
    const forgotten = new Map<string, boolean>();
    return (each: SimulatedSandbox | SimulatedContainer): boolean => {
      const { id } = 'sandbox' in each ? each.sandbox : each;
      const isForgotten = forgotten.get(id) ?? (isPicked(id) && this.#random.chance(share));
      forgotten.set(id, isForgotten);
      if (isForgotten) this.#hidden.add(each.id);
      return isForgotten;
    };
  }

  #delivery(fault: EventFault): EventDeliveryMode {
    if (fault === 'late') return () => [LATEST_EVENT_MS];
    if (fault === 'reordered') return () => [this.#random.between(0, LATEST_EVENT_MS)];
    if (fault === 'some') return () => (this.#random.chance(0.5) ? [] : [0, this.#random.between(0, LATEST_EVENT_MS)]);
    return fault;
  }
}
