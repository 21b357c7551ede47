/**
 * Registers gauges that a kubelet does not have: actors by state, limiters, stream sessions, event loop, and flight
 * recorder.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeCounts } from '../../../machines/node/counts.ts';
import { plain, type Registry } from '../registry.ts';

/** The progress of the flight recorder. */
interface RecorderProgress {
  readonly lines: number;
  readonly bytes: number;
  readonly pending: number;
  readonly missed: number;
  readonly isFailing: boolean;
}

export interface AgentGaugesParts {
  readonly agent: Pick<NodeAgent, 'overview'>;
  /** Undefined if the agent does not record. */
  readonly recorder?: (() => RecorderProgress) | undefined;
  readonly sessions: () => readonly { readonly kind: string }[];
  /** Milliseconds since an arbitrary point in time. */
  readonly monotonic: () => number;
}

/** Registers the gauges and returns the function that updates them at a scrape. */
export function agentGauges(registry: Registry, parts: AgentGaugesParts): (counts: NodeCounts) => void {
  const actors = registry.gauge(
    plain('statelet_actors', 'Actors, by machine and outermost state.', ['machine', 'state']),
  );
  const updateLimiters = limiterGauges(registry, parts);
  const updateSessions = sessionGauge(registry, parts);
  const updateEventLoop = eventLoopMetrics(registry, parts);
  const updateRecorder = parts.recorder && recorderMetrics(registry, parts.recorder);
  return (counts) => {
    actors.clear();
    for (const [machine, states] of counts.actors)
      for (const [state, count] of states) actors.set([machine, state], count);
    updateLimiters();
    updateSessions();
    updateEventLoop();
    updateRecorder?.();
  };
}

function limiterGauges(registry: Registry, { agent }: AgentGaugesParts): () => void {
  const of = (name: string, help: string) => registry.gauge(plain(`statelet_limiter_${name}`, help, ['limiter']));
  const slots = of('slots', 'Capacity of a limiter. +Inf if it is unlimited.');
  const usedSlots = of('slots_held', 'Slots in use.');
  const queue = of('queue', 'Requests waiting for a slot.');
  return () => {
    for (const [name, limiter] of Object.entries(agent.overview().limiters)) {
      slots.set([name], limiter.capacity);
      usedSlots.set([name], limiter.held.length);
      queue.set([name], limiter.queue.length);
    }
  };
}

const SESSION_KINDS = ['exec', 'attach', 'portForward', 'logs'];

function sessionGauge(registry: Registry, { sessions }: AgentGaugesParts): () => void {
  const open = registry.gauge(
    plain('statelet_stream_sessions', 'Open exec, attach and port-forward sessions, and followed logs.', ['kind']),
  );
  return () => {
    const openSessions = sessions();
    for (const kind of SESSION_KINDS) open.set([kind], openSessions.filter((each) => each.kind === kind).length);
  };
}

/** Interval between samples of the event loop's delay. A shorter interval would wake up an idle agent too often. */
const SAMPLE_INTERVAL_MS = 100;
/**
 * Minimum duration of a window of quantiles. A second scraper within this time receives the same quantiles instead of
 * starting a new window.
 */
const MIN_WINDOW_MS = 10_000;
const QUANTILES = [0.5, 0.99, 1];
const NANO = 1e-9;

/** Registers the metrics of the event loop. Measuring the delay starts with the first scrape. */
function eventLoopMetrics(registry: Registry, { monotonic }: AgentGaugesParts): () => void {
  const delay = registry.gauge(
    plain('statelet_event_loop_delay_seconds', 'Quantiles of the event loop delay since about the last scrape.', [
      'share',
    ]),
  );
  const busy = registry.counter(plain('statelet_event_loop_busy_seconds_total', 'Time that the event loop was busy.'));
  let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let windowStartedAt = 0;
  return () => {
    busy.set([], performance.eventLoopUtilization().active / 1_000);
    const now = monotonic();
    if (delays === undefined) {
      delays = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
      delays.enable();
      windowStartedAt = now;
    } else if (now - windowStartedAt >= MIN_WINDOW_MS) {
      for (const quantile of QUANTILES) delay.set([String(quantile)], lateness(delays.percentile(quantile * 100)));
      delays.reset();
      windowStartedAt = now;
    }
  };
}

/** Subtracts the sample interval, because the histogram records the time between two samples. */
const lateness = (nanoseconds: number): number => Math.max(0, nanoseconds * NANO - SAMPLE_INTERVAL_MS / 1_000);

function recorderMetrics(registry: Registry, recorder: () => RecorderProgress): () => void {
  const counter = (name: string, help: string) => registry.counter(plain(`statelet_recorder_${name}`, help));
  const gauge = (name: string, help: string) => registry.gauge(plain(`statelet_recorder_${name}`, help));
  const lines = counter('lines_total', 'Lines passed to the flight recorder.');
  const bytes = counter('written_bytes_total', 'Compressed bytes that the flight recorder wrote.');
  const pending = gauge('pending_characters', 'Characters buffered by the flight recorder.');
  const missed = gauge('missed_lines', 'Lines dropped since the last successful write.');
  const failing = gauge('failing', 'Whether the last write failed.');
  return () => {
    const progress = recorder();
    lines.set([], progress.lines);
    bytes.set([], progress.bytes);
    pending.set([], progress.pending);
    missed.set([], progress.missed);
    failing.set([], progress.isFailing ? 1 : 0);
  };
}
