/**
 * Parses pressure stall information. A file has one line for stalls of some tasks and one line for stalls of all tasks.
 */
import type { Pressure, PressureLine } from './cgroupUsage.ts';

const NO_PRESSURE: PressureLine = { avg10: 0, avg60: 0, avg300: 0, totalUs: 0 };

/** Parses a `*.pressure` file. Returns undefined if it is empty, e.g. because the kernel does not record pressure. */
export function parsePressure(text: string | undefined): Pressure | undefined {
  const linesByKind = new Map(text?.split('\n').map((line) => [line.split(' ', 1)[0] ?? '', line]));
  const someLine = linesByKind.get('some');
  if (someLine === undefined) return undefined;
  const fullLine = linesByKind.get('full');
  return { some: parseLine(someLine), full: fullLine === undefined ? NO_PRESSURE : parseLine(fullLine) };
}

function parseLine(line: string): PressureLine {
  const fieldsByKey = new Map(line.split(' ').map((field) => [field.split('=', 1)[0] ?? '', field]));
  const parseValue = (key: string) => Number(fieldsByKey.get(key)?.slice(key.length + 1) ?? 0) || 0;
  return {
    avg10: parseValue('avg10'),
    avg60: parseValue('avg60'),
    avg300: parseValue('avg300'),
    totalUs: parseValue('total'),
  };
}
