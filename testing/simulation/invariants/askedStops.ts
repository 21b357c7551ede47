import type { RuntimeEffect, SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import type { OutsideCall } from '../run/outside.ts';
import { renameIn } from '../run/renamed.ts';

/** The containers and sandboxes whose stop has been requested, until they are removed. */
export class AskedStops {
  readonly #ids = new Set<string>();

  /** Whether the stop of a container or of its sandbox has been requested. */
  has({ id, sandbox }: SimulatedContainer): boolean {
    return this.#ids.has(id) || this.#ids.has(sandbox.id);
  }

  noteCall({ room, name, about }: OutsideCall): void {
    if (room === 'runtime' && (name === 'stopContainer' || name === 'stopPodSandbox')) this.#ids.add(about);
  }

  noteEffect(effect: RuntimeEffect): void {
    const { kind, sandbox, container } = effect;
    renameIn(this.#ids, effect);
    if (kind === 'removed') this.#ids.delete(container?.id ?? sandbox.id);
  }

  forgetAll(): void {
    this.#ids.clear();
  }
}
