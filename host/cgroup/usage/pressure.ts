/** Parses pressure stall information, which has a line for stalls of some tasks and a line for stalls of all tasks. */
import type { Pressure, PressureLine } from './cgroupUsage.ts';

const NO_PRESSURE: PressureLine = { avg10: 0, avg60: 0, avg300: 0, totalUs: 0 };

/** Parses a `*.pressure` file. Returns undefined if it is empty, e.g. because the kernel does not record pressure. */
export function parsePressure(text: string | undefined): Pressure | undefined {
  const lines = new Map(text?.split('\n').map((line) => [line.split(' ', 1)[0] ?? '', line]));
  const some = lines.get('some');
  if (some === undefined) return undefined;
  const full = lines.get('full');
  return { some: parseLine(some), full: full === undefined ? NO_PRESSURE : parseLine(full) };
}

function parseLine(line: string): PressureLine {
  const values = new Map(line.split(' ').map((field) => [field.split('=', 1)[0] ?? '', field]));
  const value = (key: string) => Number(values.get(key)?.slice(key.length + 1) ?? 0) || 0;
  return { avg10: value('avg10'), avg60: value('avg60'), avg300: value('avg300'), totalUs: value('total') };
}
