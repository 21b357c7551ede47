/** Every drawing of every machine. */
import type { Drawing } from '../../inspect/protocol.ts';
import { machines } from '../../machines/drawing/charts.ts';
import { regionsOf } from '../../machines/drawing/regions.ts';
import { rulesIn } from './conformance.ts';
import { draw } from './draw.ts';
import { meanings } from './meanings.ts';

/** The whole of each machine, and each of its regions, by the names of their files. */
export async function drawAll(root: string): Promise<ReadonlyMap<string, Drawing>> {
  const rules = rulesIn(root);
  const drawings = new Map<string, Drawing>();
  for (const machine of machines) {
    const said = { meanings: meanings.get(machine.id) ?? new Map<string, string>(), rules };
    drawings.set(machine.id, await draw(machine, said));
    for (const region of regionsOf(machine))
      drawings.set(`${machine.id}.${region.id}`, await draw(machine, said, region));
  }
  return drawings;
}
