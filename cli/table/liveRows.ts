import { humanDuration } from '../../pod/duration.ts';
import type { Pod } from '../../pod/schema/pod.ts';
import type { ActorView, ContainerView, PodView, VolumeView } from '../../pod/view.ts';
import { shownName } from '../shownName.ts';

/** How an actor fares: at rest where it should be, on its way, or held up by a failure. */
export type Tone = 'good' | 'busy' | 'bad' | 'done';

/** A pod, or an actor of it, as a line of the live table. */
export interface LiveRow {
  readonly kind: 'pod' | 'container' | 'volume';
  readonly tone: Tone;
  /** Name, phase, state, since, restarts, IP, what it waits for. */
  readonly cells: readonly string[];
}

/** A pod as its object shows it, and as its actors do. */
export interface LivePod {
  readonly pod: Pod;
  readonly view: PodView;
}

/** What it waits for and for how much longer, or what went wrong last. */
function note(view: ActorView, now: number): string {
  if (view.waitingFor === undefined) return '';
  const left = view.until === undefined ? '' : `${humanDuration(Math.max(0, view.until - now))} left: `;
  const why = view.lastFailure === undefined ? '' : `: ${view.lastFailure.reason}`;
  return `${left}${view.waitingFor}${why}`;
}

/** A state at rest is named by what it rests in. */
const stateOf = ({ state }: ActorView) => state.replace(/\.steady$/, '');

const age = (view: ActorView, now: number) => humanDuration(Math.max(0, now - view.since));

function podTone(pod: Pod): Tone {
  const { phase, conditions = [] } = pod.status ?? {};
  if (phase === 'Succeeded') return 'done';
  if (phase === 'Failed') return 'bad';
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True') ? 'good' : 'busy';
}

function podRow({ pod, view }: LivePod, now: number): LiveRow {
  const restarts = view.containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const cells = [
    shownName(pod.metadata),
    pod.status?.phase ?? '',
    stateOf(view),
    age(view, now),
    `${restarts}`,
    pod.status?.podIP ?? '',
    view.refused ? `${view.refused.reason}: ${view.refused.message}` : note(view, now),
  ];
  return { kind: 'pod', tone: podTone(pod), cells };
}

function containerTone({ now: state, ready, willRestart }: ContainerView): Tone {
  if (state.kind === 'running') return ready ? 'good' : 'busy';
  if (state.kind === 'terminated') return state.run.exitCode === 0 && !willRestart ? 'done' : 'bad';
  return /BackOff|Err|Invalid/.test(state.reason) ? 'bad' : 'busy';
}

function reasonOf({ now: state }: ContainerView): string {
  if (state.kind === 'waiting') return state.reason;
  return state.kind === 'terminated' ? state.run.reason : '';
}

function containerRow(view: ContainerView, now: number): LiveRow {
  const cells = [view.name, reasonOf(view), stateOf(view), age(view, now), `${view.restartCount}`, '', note(view, now)];
  return { kind: 'container', tone: containerTone(view), cells };
}

function volumeRow(view: VolumeView, now: number): LiveRow {
  const tone = view.lastFailure && !view.mounted ? 'bad' : view.mounted ? 'good' : 'busy';
  return { kind: 'volume', tone, cells: [view.name, '', stateOf(view), age(view, now), '', '', note(view, now)] };
}

/** Puts the actors of a pod under it, as branches. */
function branched(rows: readonly LiveRow[]): LiveRow[] {
  return rows.map((row, index) => {
    const [name = '', ...rest] = row.cells;
    return { ...row, cells: [`${index === rows.length - 1 ? '└' : '├'} ${row.kind}/${name}`, ...rest] };
  });
}

/** What to leave out of the table, from nothing to everything but the pods, for when it would not fit. */
export const DETAILS = ['everything', 'noMountedVolumes', 'troubleOnly', 'podsOnly'] as const;

export type Detail = (typeof DETAILS)[number];

function isShown(row: LiveRow, detail: Detail): boolean {
  if (detail === 'everything') return true;
  if (detail === 'noMountedVolumes') return row.kind === 'container' || row.tone !== 'good';
  return detail === 'troubleOnly' && row.tone === 'bad';
}

/** The rows of all pods in order of their names, each with the rows of its containers and volumes. */
export function liveRows(pods: readonly LivePod[], now: number, detail: Detail): LiveRow[] {
  const key = ({ pod }: LivePod) => `${pod.metadata.namespace}/${pod.metadata.name}`;
  const sorted = pods.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  return sorted.flatMap((live) => {
    const { containers, volumes } = live.view;
    const actors = [
      ...containers.map((view) => containerRow(view, now)),
      ...volumes.map((view) => volumeRow(view, now)),
    ];
    return [podRow(live, now), ...branched(actors.filter((row) => isShown(row, detail)))];
  });
}
