import { pause } from './clock.ts';
import type { EventStreams } from './events.ts';
import { idsFrom, pidsFrom, seededRandom } from './ids.ts';
import { latencyFrom } from './latency.ts';
import type { SimulatedRuntimeOptions } from './options.ts';
import type { Stall } from './stall.ts';
import type { World } from './world.ts';

/** The number of the first process that the runtime starts. */
const FIRST_PID = 1000;

/** What the parts share in a runtime that is made so. */
export function worldOf(options: SimulatedRuntimeOptions, events: EventStreams, stall: Stall): World {
  const { clock, random = seededRandom(1), absentStopsFail = false, onEffect } = options;
  const latencyOf = latencyFrom(options.latency);
  return {
    clock,
    events,
    onEffect,
    newId: idsFrom(random),
    newPid: pidsFrom(FIRST_PID),
    absentStopsFail,
    handlers: options.handlers,
    latencyOf,
    work: async (call, signal, ms = latencyOf(call)) => {
      await pause(clock, ms, signal);
      await stall.passed(signal);
    },
  };
}
