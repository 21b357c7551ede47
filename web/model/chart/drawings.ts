/** Fetches the drawings of charts when they are first shown, and knows which one an actor is shown in. */
import { signal } from '@preact/signals';
import type { Drawing, ShownActor } from '../../../inspect/protocol.ts';
import { messageOf } from '../actions.ts';
import type { Asking } from '../asking.ts';
import { activeStates } from './view.ts';

/** The machines that have a chart; all other actors are calls in flight and feeds. */
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

/** A drawing, or why it is not there; neither: it is on its way. */
export interface DrawingAsked {
  readonly drawing?: Drawing;
  readonly trouble?: string;
}

/** The drawings that were asked for. The whole of a machine comes first: it says which regions there are. */
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

/** By which a drawing is known. */
export const keyOf = (machine: string, region?: string): string =>
  region === undefined ? machine : `${machine}.${region}`;

/** The region that shows where an actor is; undefined where its machine has none. */
export function regionOf({ regions }: Drawing, { state }: Pick<ShownActor, 'state'>): string | undefined {
  const active = activeStates(state);
  return (regions.find(({ states }) => active.some((each) => states.includes(each))) ?? regions[0])?.region;
}

/** What is shown of an actor's machine: a drawing, why it is not there, or neither yet. */
export interface ShownDrawing extends DrawingAsked {
  /** What has to be asked for. */
  readonly machine: string;
  readonly region?: string;
  readonly hasRegions: boolean;
}

/** The drawing that shows an actor: the region that it is in, or the whole of its machine. */
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
