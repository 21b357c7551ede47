/** The drawings of all machines, in the order in which they are read. */
import type { Drawing } from '../../../inspect/protocol.ts';
import { CHARTED, keyOf } from './drawings.ts';

/** A machine with its drawings: its regions, then the whole of it. */
export interface Catalogued {
  readonly machine: string;
  readonly summary: string;
  readonly drawings: readonly { readonly key: string; readonly title: string; readonly drawing: Drawing }[];
}

/** All machines, from the node inward. */
export function catalogueOf(drawings: readonly Drawing[]): Catalogued[] {
  const order = (machine: string) => (CHARTED.includes(machine) ? CHARTED.indexOf(machine) : CHARTED.length);
  const machines = [...new Set(drawings.map(({ machine }) => machine))].toSorted((a, b) => order(a) - order(b));
  return machines.map((machine) => {
    const own = drawings.filter((drawing) => drawing.machine === machine);
    const whole = own.find(({ region }) => region === undefined);
    const regions = whole?.regions.flatMap(({ region }) => own.find((each) => each.region === region) ?? []) ?? [];
    const shown = [...regions, ...(whole ? [whole] : [])];
    return {
      machine,
      summary: whole?.summary ?? '',
      drawings: shown.map((drawing) => ({ key: keyOf(machine, drawing.region), title: drawing.title, drawing })),
    };
  });
}

/** The drawing of this key, else the first one of the container: the most is in that. */
export function drawingIn(catalogue: readonly Catalogued[], key: string): Drawing | undefined {
  const all = catalogue.flatMap((each) => each.drawings);
  const found = all.find((each) => each.key === key) ?? all.find((each) => each.drawing.machine === 'container');
  return (found ?? all[0])?.drawing;
}
