/**
 * Registers gauges that the kubelet does not have, e.g. for actors, limiters, stream sessions, the event loop and the
 * flight recorder.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeCounts } from '../../../machines/node/counts.ts';
import { plain, type Registry } from '../registry.ts';

/** Counters of the flight recorder. */
interface RecorderProgress {
  readonly lines: number;
  readonly bytes: number;
  readonly pendingLength: number;
  readonly lostLines: number;
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

/** Registers the gauges and returns the function that updates them on each scrape. */
export function registerAgentGauges(registry: Registry, parts: AgentGaugesParts): (counts: NodeCounts) => void {
  const actorsGauge = registry.gauge(
    plain('statelet_actors', 'Actors, by machine and outermost state.', ['machine', 'state']),
  );
  const updateLimiters = registerLimiterGauges(registry, parts);
  const updateSessions = registerSessionGauge(registry, parts);
  const updateEventLoop = registerEventLoopMetrics(registry, parts);
  const updateRecorder = parts.recorder && registerRecorderMetrics(registry, parts.recorder);
  return (counts) => {
    actorsGauge.clear();
    for (const [machine, states] of counts.actors)
      for (const [state, count] of states) actorsGauge.set([machine, state], count);
    updateLimiters();
    updateSessions();
    updateEventLoop();
    updateRecorder?.();
  };
}

function registerLimiterGauges(registry: Registry, { agent }: AgentGaugesParts): () => void {
  const createLimiterGauge = (name: string, help: string) =>
    registry.gauge(plain(`statelet_limiter_${name}`, help, ['limiter']));
  const slotsGauge = createLimiterGauge('slots', 'Capacity of a limiter. +Inf if it is unlimited.');
  const usedSlotsGauge = createLimiterGauge('slots_held', 'Slots in use.');
  const queueGauge = createLimiterGauge('queue', 'Requests waiting for a slot.');
  return () => {
    for (const [name, limiter] of Object.entries(agent.overview().limiters)) {
      slotsGauge.set([name], limiter.capacity);
      usedSlotsGauge.set([name], limiter.held.length);
      queueGauge.set([name], limiter.queue.length);
    }
  };
}

const SESSION_KINDS = ['exec', 'attach', 'portForward', 'logs'];

function registerSessionGauge(registry: Registry, { sessions }: AgentGaugesParts): () => void {
  const openSessionsGauge = registry.gauge(
    plain('statelet_stream_sessions', 'Open exec, attach and port-forward sessions, and followed logs.', ['kind']),
  );
  return () => {
    const openSessions = sessions();
    for (const kind of SESSION_KINDS)
      openSessionsGauge.set([kind], openSessions.filter((each) => each.kind === kind).length);
  };
}

/** Interval between samples of the event loop's delay. A shorter interval would wake up an idle agent too often. */
const SAMPLE_INTERVAL_MS = 100;
/**
 * Minimum time over which the quantiles are computed. Scrapes within this time receive the previous quantiles, so that
 * several scrapers do not shorten each other's windows.
 */
const MIN_WINDOW_MS = 10_000;
const QUANTILES = [0.5, 0.99, 1];
const SECONDS_PER_NS = 1e-9;

/** Registers the metrics of the event loop. The first scrape starts the measurement of the delay. */
function registerEventLoopMetrics(registry: Registry, { monotonic }: AgentGaugesParts): () => void {
  const delayGauge = registry.gauge(
    plain('statelet_event_loop_delay_seconds', 'Quantiles of the event loop delay since about the last scrape.', [
      'share',
    ]),
  );
  const busyCounter = registry.counter(
    plain('statelet_event_loop_busy_seconds_total', 'Time that the event loop was busy.'),
  );
  let delayHistogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let windowStartedAt = 0;
  return () => {
    busyCounter.set([], performance.eventLoopUtilization().active / 1_000);
    const now = monotonic();
    if (delayHistogram === undefined) {
      delayHistogram = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
      delayHistogram.enable();
      windowStartedAt = now;
    } else if (now - windowStartedAt >= MIN_WINDOW_MS) {
      for (const quantile of QUANTILES)
        delayGauge.set([String(quantile)], toDelaySeconds(delayHistogram.percentile(quantile * 100)));
      delayHistogram.reset();
      windowStartedAt = now;
    }
  };
}

/** Subtracts the sample interval, because the histogram records the time between two samples. */
const toDelaySeconds = (nanoseconds: number): number =>
  Math.max(0, nanoseconds * SECONDS_PER_NS - SAMPLE_INTERVAL_MS / 1_000);

function registerRecorderMetrics(registry: Registry, recorder: () => RecorderProgress): () => void {
  const createCounter = (name: string, help: string) => registry.counter(plain(`statelet_recorder_${name}`, help));
  const createGauge = (name: string, help: string) => registry.gauge(plain(`statelet_recorder_${name}`, help));
  const linesCounter = createCounter('lines_total', 'Lines passed to the flight recorder.');
  const bytesCounter = createCounter('written_bytes_total', 'Compressed bytes that the flight recorder wrote.');
  const pendingGauge = createGauge('pending_characters', 'Characters buffered by the flight recorder.');
  const missedGauge = createGauge('missed_lines', 'Lines dropped since the last successful write.');
  const failingGauge = createGauge('failing', 'Whether the last write failed.');
  return () => {
    const recorderProgress = recorder();
    linesCounter.set([], recorderProgress.lines);
    bytesCounter.set([], recorderProgress.bytes);
    pendingGauge.set([], recorderProgress.pendingLength);
    missedGauge.set([], recorderProgress.lostLines);
    failingGauge.set([], recorderProgress.isFailing ? 1 : 0);
  };
}
