/** What is known of containers and sandboxes by their ids, when a runtime comes back with other ids for them. */
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';

/** What is kept under an id goes on under the new one. */
export function renameKey(kept: Map<string, unknown>, effect: RuntimeEffect): void {
  if (effect.kind !== 'renamed') return;
  const { formerId, container, sandbox } = effect;
  const found = kept.get(formerId);
  if (kept.delete(formerId)) kept.set((container ?? sandbox).id, found);
}

/** The same of one that ids are only noted in. */
export function renameIn(ids: Set<string>, effect: RuntimeEffect): void {
  if (effect.kind === 'renamed' && ids.delete(effect.formerId)) ids.add((effect.container ?? effect.sandbox).id);
}
