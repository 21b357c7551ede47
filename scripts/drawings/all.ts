import type { Drawing } from '../../inspect/protocol.ts';
import { machines } from '../../machines/drawing/charts.ts';
import { regionsOf } from '../../machines/drawing/regions.ts';
import { readRules } from './conformance.ts';
import { drawMachine } from './draw.ts';

/** Returns a drawing of each machine and of each of its regions, by file name. */
export async function drawAll(root: string): Promise<ReadonlyMap<string, Drawing>> {
  const conformanceRules = readRules(root);
  const drawings = new Map<string, Drawing>();
  for (const machine of machines) {
    drawings.set(machine.id, await drawMachine(machine, conformanceRules));
    for (const region of regionsOf(machine))
      drawings.set(`${machine.id}.${region.id}`, await drawMachine(machine, conformanceRules, region));
  }
  return drawings;
}
