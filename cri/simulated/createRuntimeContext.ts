import { pause } from './clock.ts';
import { resolveLatency } from './faults/latency.ts';
import type { Stall } from './faults/stall.ts';
import type { EventStreams } from './objects/events.ts';
import { createIdGenerator, createPidGenerator, seededRandom } from './objects/ids.ts';
import type { SimulatedRuntimeOptions } from './options.ts';
import type { RuntimeContext } from './runtimeContext.ts';

/** PID of the first process that the runtime starts. */
const FIRST_PID = 1000;

export function createRuntimeContext(
  options: SimulatedRuntimeOptions,
  events: EventStreams,
  stall: Stall,
): RuntimeContext {
  const { clock, random = seededRandom(1), absentStopsFail: rejectsAbsentStops = false, onEffect } = options;
  const getLatency = resolveLatency(options.latency);
  return {
    clock,
    events,
    onEffect,
    generateId: createIdGenerator(random),
    generatePid: createPidGenerator(FIRST_PID),
    rejectsAbsentStops,
    reportsContainerUsers: options.features?.supplementalGroupsPolicy === true,
    runtimeHandlers: options.handlers,
    getLatency,
    simulateWork: async (call, signal, ms = getLatency(call)) => {
      await pause(clock, ms, signal);
      await stall.waitUntilResumed(signal);
    },
  };
}
