/** Loads drawings of charts on demand, and selects the drawing that shows an actor. */
import { signal } from '@preact/signals';
import type { Drawing, ShownActor } from '../../../inspect/protocol.ts';
import { errorMessage } from '../navigation/actions.ts';
import type { ServerClient } from '../server/serverClient.ts';
import { activeStates } from './view.ts';

/** Machines that have a chart. All other actors, i.e. calls in progress and event feeds, have none. */
export const MACHINES_WITH_CHART: readonly string[] = [
  'nodeAgent',
  'pod',
  'activeDeadline',
  'pace',
  'container',
  'probe',
  'image',
  'volume',
  'limiter',
  'admission',
  'cgroups',
  'cpus',
  'devices',
  'devicePlugin',
  'deviceAllocation',
  'claims',
  'driver',
  'slices',
  'shutdown',
  'garbage',
  'imageGarbage',
  'eviction',
  'logRotation',
  'memoryManager',
  'statusSink',
  'registration',
  'nodeStatus',
  'lease',
  'mirror',
  'certificate',
];

/** A drawing, or the error that occurred when loading it. Both are undefined while it is loading. */
export interface LoadedDrawing {
  readonly drawing?: Drawing;
  readonly error?: string;
}

/**
 * Creates the cache of drawings. The whole chart of a machine must be loaded first, because it lists the machine's
 * regions.
 */
export function createDrawings({ drawing }: Pick<ServerClient, 'drawing'>) {
  const loadedDrawings = signal<ReadonlyMap<string, LoadedDrawing>>(new Map());
  const storeDrawing = (key: string, state: LoadedDrawing) => {
    loadedDrawings.value = new Map([...loadedDrawings.peek(), [key, state]]);
  };
  const loadDrawing = (machine: string, region?: string): void => {
    const key = drawingKey(machine, region);
    if (loadedDrawings.peek().get(key)?.error === undefined && loadedDrawings.peek().has(key)) return;
    storeDrawing(key, {});
    drawing(machine, region).then(
      (loadedDrawing) => storeDrawing(key, { drawing: loadedDrawing }),
      (error: unknown) => storeDrawing(key, { error: errorMessage(error) }),
    );
  };
  return { loaded: loadedDrawings, load: loadDrawing };
}

export const drawingKey = (machine: string, region?: string): string =>
  region === undefined ? machine : `${machine}.${region}`;

/** Returns the region that contains an actor's state. Undefined if the machine has no regions. */
export function activeRegion({ regions }: Drawing, { state }: Pick<ShownActor, 'state'>): string | undefined {
  const activeStateNames = activeStates(state);
  return (regions.find(({ states }) => activeStateNames.some((each) => states.includes(each))) ?? regions[0])?.region;
}

/** The drawing to display for an actor, or its loading state. */
export interface ShownDrawing extends LoadedDrawing {
  /** Identifies the drawing to load. */
  readonly machine: string;
  readonly region?: string;
  readonly hasRegions: boolean;
}

/** Returns the drawing to display for an actor, i.e. the region that contains its state, or the whole chart. */
export function shownDrawing(
  loadedDrawings: ReadonlyMap<string, LoadedDrawing>,
  actor: Pick<ShownActor, 'machine' | 'state'>,
  view: 'region' | 'whole',
): ShownDrawing {
  const { machine } = actor;
  const wholeDrawing = loadedDrawings.get(machine) ?? {};
  const region = wholeDrawing.drawing && activeRegion(wholeDrawing.drawing, actor);
  const hasRegions = region !== undefined;
  if (region === undefined || view === 'whole') return { machine, hasRegions, ...wholeDrawing };
  return { machine, region, hasRegions, ...loadedDrawings.get(drawingKey(machine, region)) };
}
