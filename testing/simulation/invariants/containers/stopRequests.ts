import type { RuntimeEffect, SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { replaceRenamedId } from '../../run/renamedIds.ts';

/** IDs of the containers and sandboxes whose stop has been requested, until they are removed. */
export class StopRequests {
  readonly #ids = new Set<string>();

  /** Whether the stop of a container or of its sandbox has been requested. */
  has({ id, sandbox }: SimulatedContainer): boolean {
    return this.#ids.has(id) || this.#ids.has(sandbox.id);
  }

  noteCall({ target, name, about }: OutsideCall): void {
    if (target === 'runtime' && (name === 'stopContainer' || name === 'stopPodSandbox')) this.#ids.add(about);
  }

  noteEffect(effect: RuntimeEffect): void {
    const { kind, sandbox, container } = effect;
    replaceRenamedId(this.#ids, effect);
    if (kind === 'removed') this.#ids.delete(container?.id ?? sandbox.id);
  }

  clear(): void {
    this.#ids.clear();
  }
}
