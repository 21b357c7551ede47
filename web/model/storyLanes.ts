/** Converts a story into lanes over time, with the states and inputs of each actor and its known deadline. */
import type { ShownActor, Story } from '../../inspect/protocol.ts';
import { type Bar, barsOf } from './storyBars.ts';
import { runIn } from './storyBursts.ts';
import { isBadMove, isFailedStep } from './storyRows.ts';
import { gateOf, type Move, type Step } from './storySteps.ts';
import { kindOf, nameOf, ownerOf } from './storyWho.ts';

/** A lane of the diagram. */
export interface Lane {
  readonly id: string;
  readonly label: string;
  readonly kind: 'source' | 'actor' | 'probe' | 'gate' | 'runtime' | 'events';
  /** Actors whose states the lane shows. A folded lane has several, and the first one is selected on click. */
  readonly actors: readonly string[];
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
  /** Times at which a run of the container failed. */
  readonly exits: readonly Mark[];
  readonly runs: readonly Run[];
  /** Deadline of the state shown by the last bar. */
  readonly until?: number;
}

/** A point in time at which something happened. */
export interface Mark {
  readonly at: number;
  readonly isBad: boolean;
  /** Sequence number of the first line of the step. */
  readonly step: number;
  readonly actor: string;
}

/** A request to create a container for a run. */
export interface Run {
  readonly at: number;
  readonly run: number;
}

interface LaneParts {
  readonly story: Story;
  readonly steps: readonly Step[];
  /** Start of the visible range. Earlier steps only determine which lanes exist. */
  readonly from?: number | undefined;
  readonly now: number;
  /** The actors at the time `now`. Undefined if they are unknown. */
  readonly actors?: ReadonlyMap<string, Pick<ShownActor, 'until'>> | undefined;
  readonly selected?: string | undefined;
}

/**
 * Returns the lanes of a pod's or the node's story in display order, from the source to the events. Empty lanes are
 * omitted.
 */
export function lanesOf({ story, steps, from, now, actors, selected }: LaneParts): Lane[] {
  const known = steps.filter(({ at }) => at <= now);
  const told = sinceOf(known, from);
  const bars = barsOf(story, { from, now, present: actors });
  const byActor = Map.groupBy(told, ({ actor }) => actor);
  const own = [...bars.keys()].filter((path) => kindOf(path) !== 'image');
  const lane = (path: string) => actorLane(path, bars.get(path) ?? [], byActor.get(path) ?? [], actors?.get(path));
  const of = (kind: string) => own.filter((path) => kindOf(path) === kind);
  const lives = livesIn(told);
  const containers = [...new Set([...of('container'), ...of('probe').map(containerOf)])].flatMap((path) => [
    { ...lane(path), ...lives.get(path) },
    ...of('probe').flatMap((probe) => (containerOf(probe) === path ? [lane(probe)] : [])),
  ]);
  const toldBy = (who: Step['who']) => known.filter((step) => step.who === who);
  const shown = (its: readonly Step[]) => orLast(sinceOf(its, from), its);
  const lanes = [
    markLane('source', 'manifest', shown(toldBy('source'))),
    ...of('pod').map(lane),
    ...foldedVolumes(of('volume').map(lane), selected),
    ...containers,
    ...of('other').sort().map(lane),
    ...gateLanes(toldBy('gate'), shown),
    markLane('runtime', 'runtime', shown(toldBy('runtime'))),
    markLane('events', 'events', shown(known.filter((step) => step.told.length > 0))),
  ];
  return lanes.filter(({ bars, marks }) => bars.length > 0 || marks.length > 0);
}

const sinceOf = (steps: readonly Step[], from = Number.NEGATIVE_INFINITY): readonly Step[] =>
  steps.filter(({ at }) => at >= from);

/** Returns the last step if none is visible, so that a lane does not disappear when its marks scroll out of view. */
const orLast = (shown: readonly Step[], all: readonly Step[]): readonly Step[] =>
  shown.length > 0 ? shown : all.slice(-1);

/** Returns the path of the probe's container. */
const containerOf = (probe: string): string => probe.split('/').slice(0, -2).join('/');

const NOTHING = { actors: [], bars: [], marks: [], exits: [], runs: [] };

const markOf = (step: Step, isBad = step.isBad): Mark => ({
  at: step.at,
  isBad,
  step: step.first,
  actor: step.actor,
});

const markLane = (kind: 'source' | 'gate' | 'runtime' | 'events', label: string, steps: readonly Step[]): Lane => ({
  ...NOTHING,
  id: label,
  label,
  kind,
  marks: steps.map((step) => markOf(step, kind === 'events' && isWarning(step))),
});

const isWarning = ({ told }: Step): boolean => told.some(({ eventType }) => eventType !== 'Normal');

function gateLanes(grants: readonly Step[], shown: (its: readonly Step[]) => readonly Step[]): Lane[] {
  const gates = ['start gate', 'pull gate'] as const;
  return gates.map((gate) => markLane('gate', gate, shown(grants.filter((step) => gateOf(step) === gate))));
}

function actorLane(
  path: string,
  bars: Bar[],
  steps: readonly Step[],
  actor: Pick<ShownActor, 'until'> | undefined,
): Lane {
  const isProbe = kindOf(path) === 'probe';
  const tries = isProbe ? steps.filter(({ event }) => event === 'runProbe') : [];
  return {
    ...NOTHING,
    id: path,
    label: nameOf(path),
    kind: isProbe ? 'probe' : 'actor',
    actors: [path],
    bars,
    marks: tries.map((step) => markOf(step, isFailedStep(step))),
    ...(actor?.until === undefined ? {} : { until: actor.until }),
  };
}

interface Lives {
  readonly runs: Run[];
  readonly exits: Mark[];
}

/** Returns the runs of each container and the ones that failed. */
function livesIn(steps: readonly Step[]): ReadonlyMap<string, Lives> {
  const lives = new Map<string, Lives>();
  const of = (actor: string) => {
    const known = lives.get(actor) ?? { runs: [], exits: [] };
    lives.set(actor, known);
    return known;
  };
  for (const step of steps) {
    for (const { port, actor, about } of step.asks) {
      if (port !== 'createContainer') continue;
      const { runs } = of(ownerOf(actor));
      // A repeated call is for the same run.
      if (runs.at(-1)?.run !== runIn(about)) runs.push({ at: step.at, run: runIn(about) });
    }
    for (const move of step.moves)
      if (isExit(move) && (step.isBad || isBadMove(move))) of(move.actor).exits.push(markOf(step, true));
  }
  return lives;
}

const isExit = ({ actor, from, state }: Move): boolean =>
  from?.startsWith('running') === true && !state.startsWith('running') && kindOf(actor) === 'container';

/** Merges the lanes of all volumes into one if they went through the same states. */
function foldedVolumes(lanes: readonly Lane[], selected: string | undefined): readonly Lane[] {
  const [first] = lanes;
  const isSelected = lanes.some(({ id }) => id === selected);
  const stories = new Set(lanes.map(({ bars }) => bars.map(({ state }) => state).join(' ')));
  if (!first || lanes.length === 1 || isSelected || stories.size > 1) return lanes;
  return [{ ...first, id: 'volumes', label: `${lanes.length} volumes`, actors: lanes.flatMap(({ actors }) => actors) }];
}
