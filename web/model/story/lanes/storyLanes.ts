/** Converts a story into lanes over time. A lane shows the states and inputs of an actor and its deadline, if known. */
import type { ShownActor, Story } from '../../../../inspect/protocol.ts';
import { runNumberIn } from '../rows/storyBursts.ts';
import { isFailedMove, isFailedStep } from '../rows/storyRows.ts';
import { gateOf, type Move, type Step } from '../rows/storySteps.ts';
import { kindOf, machineActorOf, nameOf } from '../storyWho.ts';
import { type Bar, stateBars } from './storyBars.ts';

/** A lane of the diagram, i.e. a horizontal strip for an actor or a source of inputs. */
export interface Lane {
  readonly id: string;
  readonly label: string;
  readonly kind: 'source' | 'actor' | 'probe' | 'gate' | 'runtime' | 'events';
  /**
   * Actors whose states the lane shows. A folded lane has several actors, the first of which is selected by a click.
   */
  readonly actors: readonly string[];
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
  /** Times at which runs of the container failed. */
  readonly exits: readonly Mark[];
  readonly runs: readonly Run[];
  /** Deadline of the state shown by the last bar. */
  readonly until?: number;
}

/** A point in time at which something happened. */
export interface Mark {
  readonly at: number;
  readonly isFailure: boolean;
  /** Index, within the story, of the first line of the step that the mark represents. */
  readonly step: number;
  readonly actor: string;
}

/** A run of a container. `at` is the time at which the creation of the container was requested. */
export interface Run {
  readonly at: number;
  readonly run: number;
}

interface LaneInput {
  readonly story: Story;
  readonly steps: readonly Step[];
  /** Start of the visible range. Earlier steps only determine which lanes exist. */
  readonly from?: number | undefined;
  readonly now: number;
  /** The actors at the time `now`. Undefined if unknown. */
  readonly actors?: ReadonlyMap<string, Pick<ShownActor, 'until'>> | undefined;
  readonly selectedPath?: string | undefined;
}

/**
 * Returns the lanes for a pod or the node in display order. The lane of the manifest comes first, and the lane of the
 * events comes last. Empty lanes are omitted.
 */
export function storyLanes({ story, steps, from, now, actors, selectedPath }: LaneInput): Lane[] {
  const pastSteps = steps.filter(({ at }) => at <= now);
  const visibleSteps = stepsSince(pastSteps, from);
  const bars = stateBars(story, { from, now, presentActors: actors });
  const stepsByActor = Map.groupBy(visibleSteps, ({ actor }) => actor);
  const actorPaths = [...bars.keys()].filter((path) => kindOf(path) !== 'image');
  const toActorLane = (path: string) =>
    actorLane(path, bars.get(path) ?? [], stepsByActor.get(path) ?? [], actors?.get(path));
  const pathsOfKind = (kind: string) => actorPaths.filter((path) => kindOf(path) === kind);
  const historyByActor = runHistories(visibleSteps);
  const containers = [...new Set([...pathsOfKind('container'), ...pathsOfKind('probe').map(probedContainer)])].flatMap(
    (path) => [
      { ...toActorLane(path), ...historyByActor.get(path) },
      ...pathsOfKind('probe').flatMap((probe) => (probedContainer(probe) === path ? [toActorLane(probe)] : [])),
    ],
  );
  const stepsFrom = (source: Step['source']) => pastSteps.filter((step) => step.source === source);
  const visibleOrLast = (steps: readonly Step[]) => lastIfEmpty(stepsSince(steps, from), steps);
  const lanes = [
    markLane('source', 'manifest', visibleOrLast(stepsFrom('source'))),
    ...pathsOfKind('pod').map(toActorLane),
    ...foldVolumes(pathsOfKind('volume').map(toActorLane), selectedPath),
    ...containers,
    ...pathsOfKind('other').sort().map(toActorLane),
    ...gateLanes(stepsFrom('gate'), visibleOrLast),
    markLane('runtime', 'runtime', visibleOrLast(stepsFrom('runtime'))),
    markLane('events', 'events', visibleOrLast(pastSteps.filter((step) => step.events.length > 0))),
  ];
  return lanes.filter(({ bars, marks }) => bars.length > 0 || marks.length > 0);
}

const stepsSince = (steps: readonly Step[], from = Number.NEGATIVE_INFINITY): readonly Step[] =>
  steps.filter(({ at }) => at >= from);

/** Returns the last step if no step is visible, so that a lane does not disappear when its marks scroll out of view. */
const lastIfEmpty = (visible: readonly Step[], steps: readonly Step[]): readonly Step[] =>
  visible.length > 0 ? visible : steps.slice(-1);

/** Returns the path of the probe's container. */
const probedContainer = (probe: string): string => probe.split('/').slice(0, -2).join('/');

const EMPTY_LANE = { actors: [], bars: [], marks: [], exits: [], runs: [] };

const toMark = (step: Step, isFailure = step.isFailure): Mark => ({
  at: step.at,
  isFailure,
  step: step.firstLineIndex,
  actor: step.actor,
});

const markLane = (kind: 'source' | 'gate' | 'runtime' | 'events', label: string, steps: readonly Step[]): Lane => ({
  ...EMPTY_LANE,
  id: label,
  label,
  kind,
  marks: steps.map((step) => toMark(step, kind === 'events' && isWarning(step))),
});

const isWarning = ({ events }: Step): boolean => events.some(({ eventType }) => eventType !== 'Normal');

function gateLanes(grants: readonly Step[], visibleOrLast: (steps: readonly Step[]) => readonly Step[]): Lane[] {
  const gateNames = ['start gate', 'pull gate'] as const;
  return gateNames.map((gate) => markLane('gate', gate, visibleOrLast(grants.filter((step) => gateOf(step) === gate))));
}

function actorLane(
  path: string,
  bars: Bar[],
  steps: readonly Step[],
  actor: Pick<ShownActor, 'until'> | undefined,
): Lane {
  const isProbe = kindOf(path) === 'probe';
  const probeAttempts = isProbe ? steps.filter(({ event }) => event === 'runProbe') : [];
  return {
    ...EMPTY_LANE,
    id: path,
    label: nameOf(path),
    kind: isProbe ? 'probe' : 'actor',
    actors: [path],
    bars,
    marks: probeAttempts.map((step) => toMark(step, isFailedStep(step))),
    ...(actor?.until === undefined ? {} : { until: actor.until }),
  };
}

interface RunHistory {
  readonly runs: Run[];
  readonly exits: Mark[];
}

/** Returns the runs of each container and the times at which runs failed. */
function runHistories(steps: readonly Step[]): ReadonlyMap<string, RunHistory> {
  const historyByActor = new Map<string, RunHistory>();
  const historyOf = (actor: string) => {
    const history = historyByActor.get(actor) ?? { runs: [], exits: [] };
    historyByActor.set(actor, history);
    return history;
  };
  for (const step of steps) {
    for (const { port, actor, about } of step.calls) {
      if (port !== 'createContainer') continue;
      const { runs } = historyOf(machineActorOf(actor));
      // Ignore a repeated call for the same run.
      if (runs.at(-1)?.run !== runNumberIn(about)) runs.push({ at: step.at, run: runNumberIn(about) });
    }
    for (const move of step.moves)
      if (isExit(move) && (step.isFailure || isFailedMove(move))) historyOf(move.actor).exits.push(toMark(step, true));
  }
  return historyByActor;
}

const isExit = ({ actor, from, state }: Move): boolean =>
  from?.startsWith('running') === true && !state.startsWith('running') && kindOf(actor) === 'container';

/** Merges the lanes of all volumes into one if the volumes went through the same states. */
function foldVolumes(lanes: readonly Lane[], selectedPath: string | undefined): readonly Lane[] {
  const [first] = lanes;
  const isSelected = lanes.some(({ id }) => id === selectedPath);
  const stateSequences = new Set(lanes.map(({ bars }) => bars.map(({ state }) => state).join(' ')));
  if (!first || lanes.length === 1 || isSelected || stateSequences.size > 1) return lanes;
  return [{ ...first, id: 'volumes', label: `${lanes.length} volumes`, actors: lanes.flatMap(({ actors }) => actors) }];
}
