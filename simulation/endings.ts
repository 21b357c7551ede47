/** Which containers and sandboxes an agent has asked to be ended: what else ends was ended by somebody else. */
import type { RuntimeEffect } from '../cri/simulated/views.ts';
import type { OutsideCall } from './outside.ts';

const ENDINGS: ReadonlySet<string> = new Set([
  'stopContainer',
  'removeContainer',
  'stopPodSandbox',
  'removePodSandbox',
]);

export class Endings {
  readonly #asked = new Set<string>();

  /** Notes what a call asks for. */
  note({ room, name, about }: OutsideCall): void {
    if (room === 'runtime' && ENDINGS.has(name)) this.#asked.add(about);
  }

  /** Whether something has ended that no agent had asked to end; what is gone is forgotten. */
  isByOthers({ kind, container, sandbox }: RuntimeEffect): boolean {
    const isAsked = this.#asked.has(sandbox.id) || (container !== undefined && this.#asked.has(container.id));
    if (kind === 'removed') this.#asked.delete(container?.id ?? sandbox.id);
    return kind === 'ended' && !isAsked;
  }
}
