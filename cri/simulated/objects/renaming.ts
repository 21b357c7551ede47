import type { ListResults } from '../calls/lists.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { NameRegistry } from './names.ts';
import type { ContainerRecord, Records, SandboxRecord } from './records.ts';
import type { ReservedNames } from './strays.ts';
import type { SimulatedSandbox } from './views.ts';

interface RenamedObjects {
  readonly records: Records;
  readonly names: ReservedNames;
  readonly lists: ListResults;
}

/**
 * Changes the IDs of the selected sandboxes and their containers. All their other properties stay the same, and the
 * previous IDs become invalid. Only the observer is notified, because a restarted runtime reports no changes.
 */
export function changeIds(
  { newId, events, onEffect }: RuntimeContext,
  { records: { sandboxes, containers }, names, lists }: RenamedObjects,
  shouldRename: (sandbox: SimulatedSandbox) => boolean,
): void {
  const renamedSandboxes = new Set([...sandboxes.values()].filter(shouldRename));
  const renamedContainers = new Set([...containers.values()].filter(({ sandbox }) => renamedSandboxes.has(sandbox)));
  const previousIds = new Map<SandboxRecord | ContainerRecord, string>([
    ...rename(sandboxes, renamedSandboxes, names.sandboxes, newId),
    ...rename(containers, renamedContainers, names.containers, newId),
  ]);
  if (previousIds.size === 0) return;
  const invalidIds = new Set(previousIds.values());
  events.dropDeferred(({ id }) => invalidIds.has(id));
  lists.renew();
  for (const [record, previousId] of previousIds) {
    const subject = 'sandbox' in record ? { sandbox: record.sandbox, container: record } : { sandbox: record };
    onEffect?.({ kind: 'renamed', ...subject, formerId: previousId });
  }
}

/** Renames records without changing their order and returns the previous IDs. */
function rename<R extends SandboxRecord | ContainerRecord>(
  recordsById: Map<string, R>,
  selected: ReadonlySet<R>,
  names: NameRegistry,
  newId: () => string,
): ReadonlyMap<R, string> {
  const records = [...recordsById.values()];
  const previousIds = new Map<R, string>();
  recordsById.clear();
  for (const record of records) {
    if (selected.has(record)) {
      previousIds.set(record, record.id);
      record.id = newId();
      names.release(record.reservedName);
      names.reserve(record.reservedName, record.id);
    }
    recordsById.set(record.id, record);
  }
  return previousIds;
}
