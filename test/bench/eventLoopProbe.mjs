/**
 * Loaded into the agent before it starts (`node --import`): the first SIGUSR2 begins to measure how late its event
 * loop is, the second writes the 99th percentile in milliseconds to the file that BENCH_EVENT_LOOP_FILE names. It loads
 * nothing before, as the agent's memory is measured too.
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
  // What is measured is the time from tick to tick of a timer, in nanoseconds.
  const { writeFileSync } = process.getBuiltinModule('node:fs');
  writeFileSync(process.env.BENCH_EVENT_LOOP_FILE, String(Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS)));
  delays = undefined;
});
