/** The recorded story of a pod with a crash-looping and a healthy container. */
import type { Story, StoryLine } from '../../../inspect/protocol.ts';

export const UID = 'b8';
export const POD = `pod/${UID}`;
export const API = `${POD}/container/api`;
export const PROXY = `${POD}/container/proxy`;
export const READINESS = `${PROXY}/probe/readiness`;

/** Start of the story, 07:39:12 UTC on an arbitrary day. */
export const BEGAN = Date.UTC(2026, 0, 1, 7, 39, 12);

/** End of the story. */
export const NOW = Date.UTC(2026, 0, 1, 7, 43, 52);

type Line = StoryLine;

export const state = (at: number, actor: string, to: string, tag: string): Line => ({
  kind: 'state',
  at,
  actor,
  state: to,
  tag,
});
const portCall = (at: number, actor: string, port: string, about = ''): Line => ({
  kind: 'asked',
  at,
  actor,
  port,
  about,
});
export const answer = (at: number, actor: string, source: string, tookMs: number): Line => ({
  kind: 'entered',
  at,
  actor,
  outcome: 'answer',
  source,
  tookMs,
});
export const elapsed = (at: number, actor: string): Line => ({
  kind: 'entered',
  at,
  actor,
  outcome: 'elapsed',
  source: 'timer',
});
const event = (at: number, reason: string, container: string, eventType = 'Normal'): Line => ({
  kind: 'event',
  at,
  uid: UID,
  container,
  eventType,
  reason,
  message: `${reason} it`,
});

/** A container is launched at `at`; it runs 80 ms later. */
function launch(at: number, container: string, attempt: number, running: readonly Line[]): Line[] {
  const image = `${container}/image`;
  const name = container.split('/').at(-1) ?? '';
  const call = (place: string) => `${container}/0.container.launching.creatingContainer.${place}`;
  return [
    portCall(at, `${image}/0.image.checking`, 'findImage', 'app:1'),
    state(at, image, 'checking', 'working'),
    state(at, container, 'pending.gettingImage', 'working'),
    answer(at + 2, `${image}/0.image.checking`, 'findImage', 2),
    event(at + 2, 'Pulled', name),
    state(at + 2, container, 'launching.readyToCreate', 'waiting'),
    state(at + 2, container, 'launching.creatingContainer.queued', 'waiting'),
    portCall(at + 2, call('creating'), 'createContainer', attempt === 0 ? name : `${name} attempt ${attempt}`),
    state(at + 2, container, 'launching.creatingContainer.creating', 'working'),
    state(at + 2, image, 'found', 'steady'),
    answer(at + 12, call('creating'), 'createContainer', 10),
    event(at + 12, 'Created', name),
    portCall(at + 12, call('starting'), 'startContainer', name),
    state(at + 12, container, 'launching.creatingContainer.starting', 'working'),
    answer(at + 80, call('starting'), 'startContainer', 68),
    event(at + 80, 'Started', name),
    ...running,
    state(at + 80, container, 'running.steady', 'steady'),
  ];
}

/** Returns the lines of a reported exit. If `waits`, the container then enters its back-off. */
function end(at: number, waits: boolean): Line[] {
  const seen: Line = {
    kind: 'entered',
    at,
    actor: '1.nodeAgent',
    outcome: 'fact',
    source: 'pleg',
    uid: UID,
    what: 'api exit 3',
  };
  if (!waits) return [seen];
  return [seen, event(at, 'BackOff', 'api', 'Warning'), state(at, API, 'ended.backingOff', 'retrying')];
}

/** One attempt of the readiness probe. */
export function tryOf(at: number, probe = READINESS, after = 'passing.waiting', before = 'passing'): Line[] {
  return [
    elapsed(at, `${probe}/0.probe.${before}.waiting`),
    portCall(at, `${probe}/0.probe.${before}.probing`, 'runProbe', 'proxy readiness'),
    state(at, probe, `${before}.probing`, 'working'),
    answer(at + 30, `${probe}/0.probe.${before}.probing`, 'runProbe', 30),
    state(at + 30, probe, after, 'waiting'),
  ];
}

/** Back-off after each run. The first run is followed by the next one at once. */
const WAITS = [0, 10_000, 20_000, 40_000, 80_000, 160_000];
const RAN_MS = 1_620;

/** Time of each run's creation request. */
export const RUNS: readonly number[] = WAITS.map((_, run) =>
  WAITS.slice(0, run).reduce((at, wait) => at + 80 + RAN_MS + wait, BEGAN + 500),
);

function runs(): Line[] {
  return RUNS.flatMap((at, attempt) => {
    const wait = WAITS[attempt] ?? 0;
    const ended = end(at + 80 + RAN_MS, wait > 0);
    const wakes =
      attempt > 0 && (WAITS[attempt - 1] ?? 0) > 0 ? [elapsed(at, `${API}/0.container.ended.backingOff`)] : [];
    return [...wakes, ...launch(at, API, attempt, []), ...ended];
  });
}

const mounting = (name: string): Line[] => [
  portCall(BEGAN + 2, `${POD}/volume/${name}/0.volume.mounting`, 'mountVolume', name),
  state(BEGAN + 2, `${POD}/volume/${name}`, 'mounting', 'working'),
];
const mounted = (name: string): Line[] => [
  answer(BEGAN + 4, `${POD}/volume/${name}/0.volume.mounting`, 'mountVolume', 2),
  state(BEGAN + 4, `${POD}/volume/${name}`, 'mounted.steady', 'steady'),
];

function beginning(): Line[] {
  const at = BEGAN;
  return [
    { kind: 'entered', at, actor: '2.nodeAgent', outcome: 'fact', source: 'sources', uid: UID, what: 'added' },
    state(at, POD, 'admitting', 'working'),
    state(at, POD, 'preparing.creatingDirectory', 'working'),
    ...mounting('settings'),
    ...mounting('tmp'),
    state(at + 2, POD, 'preparing.mountingVolumes', 'working'),
    ...mounted('settings'),
    ...mounted('tmp'),
    state(at + 4, PROXY, 'pending.waiting', 'waiting'),
    state(at + 4, API, 'pending.waiting', 'waiting'),
    portCall(at + 4, `${POD}/0.pod.sandboxing.creatingSandbox.creating`, 'runSandbox'),
    state(at + 4, POD, 'sandboxing.creatingSandbox.creating', 'working'),
    answer(at + 90, `${POD}/0.pod.sandboxing.creatingSandbox.creating`, 'runSandbox', 86),
    state(at + 90, POD, 'active.running.steady', 'steady'),
    ...launch(at + 90, PROXY, 0, [state(at + 170, READINESS, 'failing.waiting', 'waiting')]),
  ];
}

/** Returns the whole story. */
export function crashLoop(): Story {
  const tries = Array.from({ length: 27 }, (_, index) =>
    tryOf(
      BEGAN + 4_000 + index * 10_000,
      READINESS,
      index === 0 ? 'failing.waiting' : 'passing.waiting',
      index < 2 ? 'failing' : 'passing',
    ),
  ).flat();
  const lines = [...beginning(), ...runs(), ...tries].sort((one, other) => one.at - other.at);
  return { from: BEGAN - 10_000, to: NOW, before: [], lines };
}

/** Returns the story of many containers that each take one step within half a second. */
export function burst(count: number, at = BEGAN): Line[] {
  return Array.from({ length: count }, (_, index) => {
    const actor = `${POD}/container/c${Math.floor(index / 2) % 20}`;
    return index % 2 === 0
      ? answer(at + Math.floor(index / 4), `${actor}/0.container.running`, 'inspectContainer', 1)
      : state(at + Math.floor(index / 4), actor, index % 4 === 1 ? 'running.steady' : 'running.updating', 'steady');
  });
}
