/**
 * The schedule of the faults and of the users' actions, all drawn from a seed. It has parallel lanes of sequential
 * steps.
 */

import type { Fault } from '../../../../testing/apiserver/faults.ts';
import { Random } from '../../../../testing/simulation/random.ts';

/** The kind of node requests that a fault affects. */
export type Asked = 'writes' | 'statuses' | 'reads' | 'watches';

export type ServerTrouble =
  /** The API server is down for `ms` milliseconds. */
  | { readonly kind: 'outage'; readonly ms: number }
  /**
   * Watches can be opened but receive no events for `ms` milliseconds. They stay silent until their connections end.
   */
  | { readonly kind: 'silence'; readonly ms: number }
  /** All connections are cut, and the server has forgotten its watch history. */
  | { readonly kind: 'amnesia' };

export type RequestTrouble = {
  readonly kind: 'requests';
  readonly fault: Fault;
  readonly times: number;
  readonly of: Asked;
};

/** Kills processes. A killed agent is replaced by a new one after `awayMs` milliseconds. */
export type Kill = {
  readonly kind: 'kill';
  readonly who: 'agent' | 'runtime' | 'both';
  readonly awayMs: number;
  /** Whether the next fault waits until the new agent responds. Otherwise the agent may be killed while it starts. */
  readonly awaited: boolean;
};

/** Actions of users, which create, stop and delete pods, named by the roles of the pods. */
const deeds = [
  'end done',
  'end failed',
  'delete leaving',
  'make reborn anew',
  'force reborn anew',
  'label web',
  'make late',
  'make late-done',
  'make late-failed',
  'delete brief',
  'remove passing',
] as const;
export type Deed = (typeof deeds)[number];

export interface Step<T> {
  readonly afterMs: number;
  readonly what: T;
}

export interface Schedule {
  readonly server: readonly Step<ServerTrouble>[];
  readonly requests: readonly Step<RequestTrouble>[];
  readonly kills: readonly Step<Kill>[];
  readonly users: readonly Step<Deed>[];
}

/** Draws the schedule of `ms` milliseconds from a seed. */
export function drawnSchedule(seed: number, ms: number): Schedule {
  const random = new Random(seed);
  const [server, requests, kills, users] = [random.fork(), random.fork(), random.fork(), random.fork()];
  // In some schedules no agent is killed, so that its successor cannot repair what one agent alone must repair.
  const victims = random.pick([ALL, ALL, ['runtime'], []] as const);
  return {
    server: lane(server, { ms, least: 400, most: 2_500 }, serverTrouble),
    requests: lane(requests, { ms, least: 50, most: 600 }, requestTrouble),
    kills: victims.length === 0 ? [] : lane(kills, { ms, least: 700, most: 3_000 }, (drawn) => kill(drawn, victims)),
    users: drawnDeeds(users, ms),
  };
}

interface Pace {
  readonly ms: number;
  readonly least: number;
  readonly most: number;
}

function lane<T>(random: Random, { ms, least, most }: Pace, draw: (random: Random) => T): Step<T>[] {
  const steps: Step<T>[] = [];
  for (let at = random.between(least, most); at < ms; ) {
    const next = random.between(least, most);
    steps.push({ afterMs: steps.length === 0 ? at : next, what: draw(random) });
    at += next;
  }
  return steps;
}

function serverTrouble(random: Random): ServerTrouble {
  const kind = random.pick(['outage', 'outage', 'silence', 'amnesia'] as const);
  return kind === 'amnesia' ? { kind } : { kind, ms: random.between(0, 2_500) };
}

const FAULTS: readonly Fault[] = [
  ...([{ kind: 'lost' }, { kind: 'lost' }, { kind: 'dropped' }, { kind: 'dropped' }] as const),
  ...[500, 503].map((code) => ({ kind: 'refused', code }) as const),
  { kind: 'refused', code: 429, retryAfterSeconds: 1 },
  ...([{ kind: 'latency', ms: 300 }, { kind: 'hung' }] as const),
];

function requestTrouble(random: Random): RequestTrouble {
  const of = random.pick(['writes', 'writes', 'statuses', 'statuses', 'reads', 'watches'] as const);
  const cut = { kind: 'cut', afterMs: random.between(0, 1_000) } as const;
  const fault = of === 'watches' && random.chance(0.5) ? cut : random.pick(FAULTS);
  return { kind: 'requests', fault, of, times: random.between(1, 3) };
}

const ALL: readonly Kill['who'][] = ['agent', 'agent', 'runtime', 'both'];

function kill(random: Random, victims: readonly Kill['who'][]): Kill {
  const who = random.pick(victims);
  return { kind: 'kill', who, awayMs: random.pick([0, random.between(0, 2_000)]), awaited: random.chance(0.6) };
}

/** Draws a time for each action, which happens once. Of the two ways to recreate a pod, one is drawn. */
function drawnDeeds(random: Random, ms: number): Step<Deed>[] {
  const without = random.pick(['make reborn anew', 'force reborn anew']);
  const done = random.sample(
    deeds.filter((deed) => deed !== without),
    deeds.length,
  );
  const times = done.map(() => random.between(0, ms)).sort((a, b) => a - b);
  return done.map((what, index) => ({ what, afterMs: (times[index] ?? 0) - (times[index - 1] ?? 0) }));
}
