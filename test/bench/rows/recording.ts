import { join } from 'node:path';
import { runProgram } from '../../../host/program.ts';
import { interruption } from '../interruption.ts';
import type { Figure } from '../report.ts';

/** Output of the process. Times are in milliseconds, and `ownMs` is the recorder's part. */
interface Measured {
  readonly burst: { readonly cpuMs: number; readonly ownMs: number };
  readonly idle: { readonly ownMs: number; readonly ms: number };
  readonly memoryBytes: number;
}

const LIMIT_MS = 5 * 60_000;
const MIB = 2 ** 20;

async function measured(how: 'recorded' | 'unrecorded'): Promise<Measured> {
  const file = join(import.meta.dirname, '..', 'recordingProcess.ts');
  const args = ['--expose-gc', '--disable-warning=ExperimentalWarning', file, how];
  // The program belongs to the bench, so its output has this type.
  return JSON.parse(await runProgram(process.execPath, args, { signal: interruption, timeoutMs: LIMIT_MS }));
}

/** Measures the cost of the flight recorder on a node of fifty pods, compared with everything else in the process. */
export async function recording(): Promise<Figure[]> {
  const [recorded, bare] = [await measured('recorded'), await measured('unrecorded')];
  const { burst, idle, memoryBytes } = recorded;
  const rest = burst.cpuMs - burst.ownMs;
  const row = 'recording' as const;
  return [
    {
      row,
      name: 'the recorder while 50 pods start: CPU, over the rest of the agent',
      value: (burst.ownMs / rest) * 100,
      unit: '%',
      goal: 3,
      detail: `${burst.ownMs.toFixed(0)} ms over ${rest.toFixed(0)} ms`,
    },
    {
      row,
      name: '… with 50 idle pods',
      value: (idle.ownMs / idle.ms) * 100,
      unit: '%',
      goal: 0.1,
      detail: `${idle.ownMs.toFixed(1)} ms in ${idle.ms / 60_000} min`,
    },
    {
      row,
      name: '… its memory then',
      value: (memoryBytes - bare.memoryBytes) / MIB,
      unit: 'MiB',
      goal: 6,
      detail: `${(memoryBytes / MIB).toFixed(1)} MiB, without it ${(bare.memoryBytes / MIB).toFixed(1)} MiB`,
    },
  ];
}
