/** Loads drawings of charts on demand, and selects the drawing that shows an actor. */
import { signal } from '@preact/signals';
import type { Drawing, ShownActor } from '../../../inspect/protocol.ts';
import { messageOf } from '../actions.ts';
import type { Asking } from '../asking.ts';
import { activeStates } from './view.ts';

/** Machines that have a chart. All other actors are calls in flight and feeds. */
export const CHARTED: readonly string[] = [
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
  'garbage',
  'logRotation',
  'statusSink',
  'registration',
  'nodeStatus',
  'lease',
  'mirror',
  'certificate',
];

/** A drawing, or the failure to load it. Neither is defined while it is loading. */
export interface DrawingAsked {
  readonly drawing?: Drawing;
  readonly trouble?: string;
}

/** Creates the cache of drawings. The whole chart of a machine is loaded first, because it lists the regions. */
export function createDrawings({ drawing }: Pick<Asking, 'drawing'>) {
  const asked = signal<ReadonlyMap<string, DrawingAsked>>(new Map());
  const put = (key: string, state: DrawingAsked) => {
    asked.value = new Map([...asked.peek(), [key, state]]);
  };
  const ask = (machine: string, region?: string): void => {
    const key = keyOf(machine, region);
    if (asked.peek().get(key)?.trouble === undefined && asked.peek().has(key)) return;
    put(key, {});
    drawing(machine, region).then(
      (found) => put(key, { drawing: found }),
      (error: unknown) => put(key, { trouble: messageOf(error) }),
    );
  };
  return { asked, ask };
}

/** Returns the cache key of a drawing. */
export const keyOf = (machine: string, region?: string): string =>
  region === undefined ? machine : `${machine}.${region}`;

/** Returns the region that contains an actor's state. Undefined if the machine has no regions. */
export function regionOf({ regions }: Drawing, { state }: Pick<ShownActor, 'state'>): string | undefined {
  const active = activeStates(state);
  return (regions.find(({ states }) => active.some((each) => states.includes(each))) ?? regions[0])?.region;
}

/** The drawing that is displayed for an actor, or its loading state. */
export interface ShownDrawing extends DrawingAsked {
  /** Identifies the drawing to load. */
  readonly machine: string;
  readonly region?: string;
  readonly hasRegions: boolean;
}

/** Returns the drawing for an actor, which is the region with its state or the whole chart. */
export function shownDrawing(
  asked: ReadonlyMap<string, DrawingAsked>,
  actor: Pick<ShownActor, 'machine' | 'state'>,
  view: 'region' | 'whole',
): ShownDrawing {
  const { machine } = actor;
  const whole = asked.get(machine) ?? {};
  const region = whole.drawing && regionOf(whole.drawing, actor);
  const hasRegions = region !== undefined;
  if (region === undefined || view === 'whole') return { machine, hasRegions, ...whole };
  return { machine, region, hasRegions, ...asked.get(keyOf(machine, region)) };
}
