/** A story in lanes over time: who was in which state, what entered whom, and what is known to come. */
import type { ShownActor, Story } from '../../inspect/protocol.ts';
import { type Bar, barsOf } from './storyBars.ts';
import { runIn } from './storyBursts.ts';
import { isBadMove, isFailedStep } from './storyRows.ts';
import { gateOf, type Move, type Step } from './storySteps.ts';
import { kindOf, nameOf, ownerOf } from './storyWho.ts';

/** One lane. */
export interface Lane {
  readonly id: string;
  readonly label: string;
  readonly kind: 'source' | 'actor' | 'probe' | 'gate' | 'runtime' | 'events';
  /** Whose states it shows: one that can be selected; of several folded ones the first. */
  readonly actors: readonly string[];
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
  /** When a run of a container ended badly. */
  readonly exits: readonly Mark[];
  readonly runs: readonly Run[];
  /** The state that the last of its bars shows goes on to a known moment. */
  readonly until?: number;
}

/** Something happened. */
export interface Mark {
  readonly at: number;
  readonly isBad: boolean;
  /** The first line of its step. */
  readonly step: number;
  readonly actor: string;
}

/** A container's run was asked for. */
export interface Run {
  readonly at: number;
  readonly run: number;
}

interface LaneParts {
  readonly story: Story;
  readonly steps: readonly Step[];
  /** What is shown begins here; what was before counts only for which lanes there are. */
  readonly from?: number | undefined;
  readonly now: number;
  /** Its actors as they are at that moment; absent: they are not known. */
  readonly actors?: ReadonlyMap<string, Pick<ShownActor, 'until'>> | undefined;
  readonly selected?: string | undefined;
}

/** The lanes of a pod's story, or of the node's own, from the source down to the events; those without anything are left out. */
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

/** A lane does not go and come with what is in sight: one mark out of sight keeps it. */
const orLast = (shown: readonly Step[], all: readonly Step[]): readonly Step[] =>
  shown.length > 0 ? shown : all.slice(-1);

/** Whose probe it is. */
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

/** The runs of each container, and which of them ended badly. */
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
      // A call that is made again is for the same run.
      if (runs.at(-1)?.run !== runIn(about)) runs.push({ at: step.at, run: runIn(about) });
    }
    for (const move of step.moves)
      if (isExit(move) && (step.isBad || isBadMove(move))) of(move.actor).exits.push(markOf(step, true));
  }
  return lives;
}

const isExit = ({ actor, from, state }: Move): boolean =>
  from?.startsWith('running') === true && !state.startsWith('running') && kindOf(actor) === 'container';

/** Volumes of which none has another story than the others are one lane. */
function foldedVolumes(lanes: readonly Lane[], selected: string | undefined): readonly Lane[] {
  const [first] = lanes;
  const isSelected = lanes.some(({ id }) => id === selected);
  const stories = new Set(lanes.map(({ bars }) => bars.map(({ state }) => state).join(' ')));
  if (!first || lanes.length === 1 || isSelected || stories.size > 1) return lanes;
  return [{ ...first, id: 'volumes', label: `${lanes.length} volumes`, actors: lanes.flatMap(({ actors }) => actors) }];
}
