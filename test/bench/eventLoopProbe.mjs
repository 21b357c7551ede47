/**
 * Measures the delay of the agent's event loop. The module is loaded before the agent starts (`node --import`). The
 * first SIGUSR2 starts the measurement, and the second one writes the 99th percentile in milliseconds to the file that
 * BENCH_EVENT_LOOP_FILE names. Nothing else is loaded until then, because the agent's memory is measured as well.
 */
const RESOLUTION_MS = 10;
let delays;

process.on('SIGUSR2', () => {
  if (delays === undefined) {
    const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
    delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delays.enable();
    return;
  }
  delays.disable();
  // The histogram contains the intervals between the ticks of a timer, in nanoseconds.
  const { writeFileSync } = process.getBuiltinModule('node:fs');
  writeFileSync(process.env.BENCH_EVENT_LOOP_FILE, String(Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS)));
  delays = undefined;
});
