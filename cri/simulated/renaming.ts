import type { Lists } from './lists.ts';
import type { NameRegister } from './names.ts';
import type { ContainerRecord, Records, SandboxRecord } from './records.ts';
import type { Names } from './strays.ts';
import type { SimulatedSandbox } from './views.ts';
import type { World } from './world.ts';

interface Renamed {
  readonly records: Records;
  readonly names: Names;
  readonly lists: Lists;
}

/**
 * Gives sandboxes other ids, and the containers in them: all else of them is as it was, and nobody knows the old ids any
 * more. Nothing is told of it but to the observer: a runtime that comes back tells of no change.
 */
export function giveOtherIds(
  { newId, events, onEffect }: World,
  { records: { sandboxes, containers }, names, lists }: Renamed,
  picks: (sandbox: SimulatedSandbox) => boolean,
): void {
  const picked = new Set([...sandboxes.values()].filter(picks));
  const inside = new Set([...containers.values()].filter(({ sandbox }) => picked.has(sandbox)));
  const former = new Map<SandboxRecord | ContainerRecord, string>([
    ...rename(sandboxes, picked, names.sandboxes, newId),
    ...rename(containers, inside, names.containers, newId),
  ]);
  if (former.size === 0) return;
  const ids = new Set(former.values());
  events.forget(({ id }) => ids.has(id));
  lists.renew();
  for (const [record, formerId] of former) {
    const about = 'sandbox' in record ? { sandbox: record.sandbox, container: record } : { sandbox: record };
    onEffect?.({ kind: 'renamed', ...about, formerId });
  }
}

/** They stay in the order of their age. Returns the ids that they had. */
function rename<R extends SandboxRecord | ContainerRecord>(
  known: Map<string, R>,
  picked: ReadonlySet<R>,
  names: NameRegister,
  newId: () => string,
): ReadonlyMap<R, string> {
  const all = [...known.values()];
  const former = new Map<R, string>();
  known.clear();
  for (const record of all) {
    if (picked.has(record)) {
      former.set(record, record.id);
      record.id = newId();
      names.release(record.reservedName);
      names.reserve(record.reservedName, record.id);
    }
    known.set(record.id, record);
  }
  return former;
}
