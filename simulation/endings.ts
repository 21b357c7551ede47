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

  /** Whether something has ended that no agent had asked to end; what is gone, or is used again, is forgotten. */
  isByOthers({ kind, container, sandbox }: RuntimeEffect): boolean {
    const isAsked = this.#asked.has(sandbox.id) || (container !== undefined && this.#asked.has(container.id));
    // A sandbox that it could not stop may be wanted again: what an agent starts in it ends without that call.
    if (kind === 'started') this.#asked.delete(sandbox.id);
    if (kind === 'removed') this.#asked.delete(container?.id ?? sandbox.id);
    return kind === 'ended' && !isAsked;
  }
}
