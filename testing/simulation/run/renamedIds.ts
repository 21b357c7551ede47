/** Updates data that is keyed by the IDs of containers and sandboxes when the runtime restarts with different IDs. */
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';

/** Moves the value from the former ID to the new one. */
export function moveRenamedKey(byId: Map<string, unknown>, effect: RuntimeEffect): void {
  if (effect.kind !== 'renamed') return;
  const { formerId, container, sandbox } = effect;
  const value = byId.get(formerId);
  if (byId.delete(formerId)) byId.set((container ?? sandbox).id, value);
}

/** Replaces the former ID by the new one. */
export function replaceRenamedId(ids: Set<string>, effect: RuntimeEffect): void {
  if (effect.kind === 'renamed' && ids.delete(effect.formerId)) ids.add((effect.container ?? effect.sandbox).id);
}
