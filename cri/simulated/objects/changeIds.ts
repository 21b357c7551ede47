import type { ListResults } from '../calls/listResults.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { NameRegistry } from './nameRegistry.ts';
import type { ContainerRecord, RuntimeRecords, SandboxRecord } from './records.ts';
import type { NameRegistries } from './strays.ts';
import type { SimulatedSandbox } from './views.ts';

interface RenamedObjects {
  readonly records: RuntimeRecords;
  readonly nameRegistries: NameRegistries;
  readonly listResults: ListResults;
}

/**
 * Changes the IDs of the selected sandboxes and their containers. All their other properties stay the same, and the
 * previous IDs become invalid. The changes are reported to `onEffect` but not as CRI events, because a restarted
 * runtime reports no changes.
 */
export function changeIds(
  { generateId, events, onEffect }: RuntimeContext,
  { records: { sandboxes, containers }, nameRegistries, listResults }: RenamedObjects,
  shouldRename: (sandbox: SimulatedSandbox) => boolean,
): void {
  const renamedSandboxes = new Set([...sandboxes.values()].filter(shouldRename));
  const renamedContainers = new Set([...containers.values()].filter(({ sandbox }) => renamedSandboxes.has(sandbox)));
  const previousIds = new Map<SandboxRecord | ContainerRecord, string>([
    ...assignNewIds(sandboxes, renamedSandboxes, nameRegistries.sandboxes, generateId),
    ...assignNewIds(containers, renamedContainers, nameRegistries.containers, generateId),
  ]);
  if (previousIds.size === 0) return;
  const invalidIds = new Set(previousIds.values());
  events.dropDeferred(({ id }) => invalidIds.has(id));
  listResults.refresh();
  for (const [record, previousId] of previousIds) {
    const eventSubject = 'sandbox' in record ? { sandbox: record.sandbox, container: record } : { sandbox: record };
    onEffect?.({ kind: 'renamed', ...eventSubject, formerId: previousId });
  }
}

/** Renames records without changing their order and returns the previous IDs. */
function assignNewIds<R extends SandboxRecord | ContainerRecord>(
  recordsById: Map<string, R>,
  selectedRecords: ReadonlySet<R>,
  nameRegistry: NameRegistry,
  generateId: () => string,
): ReadonlyMap<R, string> {
  const records = [...recordsById.values()];
  const previousIds = new Map<R, string>();
  recordsById.clear();
  for (const record of records) {
    if (selectedRecords.has(record)) {
      previousIds.set(record, record.id);
      record.id = generateId();
      nameRegistry.release(record.reservedName);
      nameRegistry.reserve(record.reservedName, record.id);
    }
    recordsById.set(record.id, record);
  }
  return previousIds;
}
