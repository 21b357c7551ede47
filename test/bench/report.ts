import { availableParallelism, release, totalmem } from 'node:os';
import type { RowName } from './options.ts';

/** A line of the table: a measured value, and its maximum as the goal. */
export interface Figure {
  readonly row: RowName;
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'ms' | '%' | 'KiB' | 'MiB' | 'calls' | 'descriptors';
  /** Undefined if the value is only shown for information. */
  readonly goal?: number;
  /** The measurements behind the value. */
  readonly detail: string;
}

/** Describes the host of the bench. */
export function hostFacts(): Record<string, unknown> {
  return {
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.version,
  };
}

/** Formats the figures as a table with their goals. */
export function table(figures: readonly Figure[]): string {
  const head = ['', 'measured', 'goal', '', 'made of'];
  const rows = figures.map((figure) => [figure.name, shown(figure), goalOf(figure), verdict(figure), figure.detail]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}

/** Whether the goal is met. Undefined if there is no goal. */
export function isMet({ value, goal }: Figure): boolean | undefined {
  return goal === undefined ? undefined : value <= goal;
}

function verdict(figure: Figure): string {
  const met = isMet(figure);
  return met === undefined ? '' : met ? 'pass' : 'MISS';
}

function goalOf({ goal, unit }: Figure): string {
  return goal === undefined ? '' : `≤ ${goal} ${unit}`;
}

function shown({ value, unit }: Figure): string {
  const digits = unit === '×' || unit === '%' ? 2 : unit === 'calls' || unit === 'descriptors' ? 0 : 1;
  return `${value.toFixed(digits)} ${unit}`;
}
