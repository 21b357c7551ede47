/** What only this agent has: how many actors are in which states, who waits for slots, how busy it is. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeCounts } from '../../../machines/node/counts.ts';
import { plain, type Registry } from '../registry.ts';

/** How the flight recorder gets on. */
interface Recorder {
  readonly lines: number;
  readonly bytes: number;
  readonly pending: number;
  readonly missed: number;
  readonly isFailing: boolean;
}

export interface AgentGaugesParts {
  readonly agent: Pick<NodeAgent, 'overview'>;
  /** Absent: nothing is recorded. */
  readonly recorder?: (() => Recorder) | undefined;
  readonly sessions: () => readonly { readonly kind: string }[];
  /** In milliseconds since some moment. */
  readonly monotonic: () => number;
}

/** Sets them; `counts` is what there was at this scrape. */
export function agentGauges(registry: Registry, parts: AgentGaugesParts): (counts: NodeCounts) => void {
  const actors = registry.gauge(
    plain('statelet_actors', 'Actors, by their machine and the outermost state that they are in.', [
      'machine',
      'state',
    ]),
  );
  const ofLimiters = limiterGauges(registry, parts);
  const ofSessions = sessionGauge(registry, parts);
  const ofLoop = loopMetrics(registry, parts);
  const ofRecorder = parts.recorder && recorderMetrics(registry, parts.recorder);
  return (counts) => {
    actors.clear();
    for (const [machine, states] of counts.actors)
      for (const [state, count] of states) actors.set([machine, state], count);
    ofLimiters();
    ofSessions();
    ofLoop();
    ofRecorder?.();
  };
}

function limiterGauges(registry: Registry, { agent }: AgentGaugesParts): () => void {
  const of = (name: string, help: string) => registry.gauge(plain(`statelet_limiter_${name}`, help, ['limiter']));
  const slots = of('slots', 'How many may be at it at a time; +Inf: any number.');
  const held = of('slots_held', 'How many are at it.');
  const queue = of('queue', 'How many wait for a slot.');
  return () => {
    for (const [name, limiter] of Object.entries(agent.overview().limiters)) {
      slots.set([name], limiter.capacity);
      held.set([name], limiter.held.length);
      queue.set([name], limiter.queue.length);
    }
  };
}

const KINDS = ['exec', 'attach', 'portForward', 'logs'];

function sessionGauge(registry: Registry, { sessions }: AgentGaugesParts): () => void {
  const open = registry.gauge(
    plain('statelet_stream_sessions', 'Clients that are joined with a container or pod, or follow a log.', ['kind']),
  );
  return () => {
    const all = sessions();
    for (const kind of KINDS) open.set([kind], all.filter((each) => each.kind === kind).length);
  };
}

/** How often the delay is measured: more often it would keep an idle agent awake. */
const LOOK_MS = 100;
/** Two who scrape do not take what they tell from one another. */
const WINDOW_MS = 10_000;
const QUANTILES = [0.5, 0.99, 1];
const NANO = 1e-9;

/** How late what is due comes, since about the last scrape: measured from the first one on. */
function loopMetrics(registry: Registry, { monotonic }: AgentGaugesParts): () => void {
  const delay = registry.gauge(
    plain(
      'statelet_event_loop_delay_seconds',
      'So late the event loop is for this share of the time, or less, since about the last scrape.',
      ['share'],
    ),
  );
  const busy = registry.counter(plain('statelet_event_loop_busy_seconds_total', 'How long the event loop has worked.'));
  let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let begunAt = 0;
  return () => {
    busy.set([], performance.eventLoopUtilization().active / 1_000);
    const now = monotonic();
    if (delays === undefined) {
      delays = monitorEventLoopDelay({ resolution: LOOK_MS });
      delays.enable();
      begunAt = now;
    } else if (now - begunAt >= WINDOW_MS) {
      for (const quantile of QUANTILES) delay.set([String(quantile)], lateness(delays.percentile(quantile * 100)));
      delays.reset();
      begunAt = now;
    }
  };
}

/** What is measured is how long it took until the next look. */
const lateness = (nanoseconds: number): number => Math.max(0, nanoseconds * NANO - LOOK_MS / 1_000);

function recorderMetrics(registry: Registry, recorder: () => Recorder): () => void {
  const counter = (name: string, help: string) => registry.counter(plain(`statelet_recorder_${name}`, help));
  const gauge = (name: string, help: string) => registry.gauge(plain(`statelet_recorder_${name}`, help));
  const lines = counter('lines_total', 'Lines that the flight recorder was given.');
  const bytes = counter('written_bytes_total', 'Bytes that it has written, compressed.');
  const pending = gauge('pending_characters', 'Characters that it has yet to write.');
  const missed = gauge('missed_lines', 'Lines that it has given up since it could last write.');
  const failing = gauge('failing', 'Whether it cannot write at present.');
  return () => {
    const now = recorder();
    lines.set([], now.lines);
    bytes.set([], now.bytes);
    pending.set([], now.pending);
    missed.set([], now.missed);
    failing.set([], now.isFailing ? 1 : 0);
  };
}
