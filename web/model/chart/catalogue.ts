/** Builds the catalog of all machines and their drawings, in reading order. */
import type { Drawing } from '../../../inspect/protocol.ts';
import { drawingKey, MACHINES_WITH_CHART } from './drawings.ts';

/** A machine with the drawings of its regions, followed by the whole chart. */
export interface CatalogueEntry {
  readonly machine: string;
  readonly summary: string;
  readonly drawings: readonly { readonly key: string; readonly title: string; readonly drawing: Drawing }[];
}

/** Returns all machines, starting with the node. */
export function buildCatalogue(drawings: readonly Drawing[]): CatalogueEntry[] {
  const machineOrder = (machine: string) =>
    MACHINES_WITH_CHART.includes(machine) ? MACHINES_WITH_CHART.indexOf(machine) : MACHINES_WITH_CHART.length;
  const machines = [...new Set(drawings.map(({ machine }) => machine))].toSorted(
    (a, b) => machineOrder(a) - machineOrder(b),
  );
  return machines.map((machine) => {
    const machineDrawings = drawings.filter((drawing) => drawing.machine === machine);
    const wholeDrawing = machineDrawings.find(({ region }) => region === undefined);
    const regionDrawings =
      wholeDrawing?.regions.flatMap(({ region }) => machineDrawings.find((each) => each.region === region) ?? []) ?? [];
    const orderedDrawings = [...regionDrawings, ...(wholeDrawing ? [wholeDrawing] : [])];
    return {
      machine,
      summary: wholeDrawing?.summary ?? '',
      drawings: orderedDrawings.map((drawing) => ({
        key: drawingKey(machine, drawing.region),
        title: drawing.title,
        drawing,
      })),
    };
  });
}

/**
 * Returns the drawing with the given key. If there is none, returns the first drawing of the container machine, because
 * it is the most informative one.
 */
export function findDrawing(catalogue: readonly CatalogueEntry[], key: string): Drawing | undefined {
  const drawings = catalogue.flatMap((each) => each.drawings);
  const matchingDrawing =
    drawings.find((each) => each.key === key) ?? drawings.find((each) => each.drawing.machine === 'container');
  return (matchingDrawing ?? drawings[0])?.drawing;
}
