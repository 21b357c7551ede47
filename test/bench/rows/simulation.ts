import { join } from 'node:path';
import { runProgram } from '../../../host/program.ts';
import { interruption } from '../interruption.ts';
import type { Figure } from '../report.ts';

/** Output of the process: the steps of each tenth of a run, and CPU time in milliseconds. */
interface Measured {
  readonly windows: readonly { readonly steps: number; readonly ms: number }[];
  readonly idleMs: number;
}

const LIMIT_MS = 20 * 60_000;

/** Measures the CPU time of a simulated node of thirty pods with all invariants. */
export async function simulation(minutes: number): Promise<Figure[]> {
  const file = join(import.meta.dirname, '..', 'simulationProcess.ts');
  const args = ['--disable-warning=ExperimentalWarning', file, String(minutes)];
  const printed = await runProgram(process.execPath, args, { signal: interruption, timeoutMs: LIMIT_MS });
  // The program belongs to the bench, so its output has this type.
  const { windows, idleMs }: Measured = JSON.parse(printed);
  const steps = windows.reduce((sum, each) => sum + each.steps, 0);
  const ms = windows.reduce((sum, each) => sum + each.ms, 0);
  const perStep = windows.map((each) => each.ms / each.steps);
  const row = 'simulation' as const;
  return [
    {
      row,
      name: '1,000 steps of a simulated node of 30 pods: CPU',
      value: (ms / steps) * 1_000,
      unit: 'ms',
      goal: 500,
      detail: `${Math.round((steps / ms) * 1_000)} steps a second; ${steps} steps in ${minutes} min of node time`,
    },
    {
      row,
      name: '… in the last tenth of the run against the first',
      value: (perStep.at(-1) ?? Number.NaN) / (perStep[0] ?? Number.NaN),
      unit: '×',
      goal: 1.25,
      detail: `${perStep.map((each) => (each * 1_000).toFixed(0)).join(', ')} ms`,
    },
    {
      row,
      name: 'an idle hour of a simulated node of 30 pods: CPU',
      value: idleMs,
      unit: 'ms',
      goal: 2_500,
      detail: `${((idleMs * 24) / 1_000).toFixed(0)} s for a day`,
    },
  ];
}
