/**
 * Text in columns that fits a width: columns that may give way go first, then the others shrink, each down to what it
 * needs at least.
 */
import { cut, displayWidth, padded } from '../../pod/show/displayWidth.ts';
import { printableLine } from '../../pod/show/printable.ts';

export interface Column {
  readonly header: string;
  readonly align?: 'left' | 'right';
  /** The least width to shrink to; absent for a column that always keeps its full width. */
  readonly min?: number;
  /** Columns that give way when the others do not fit beside them: the lowest number first. */
  readonly givesWay?: number;
}

const GAP = 2;

type Rows = readonly (readonly string[])[];

function naturalWidths(columns: readonly Column[], rows: Rows): number[] {
  return columns.map(({ header }, index) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? '')), header.length),
  );
}

const total = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width + GAP, -GAP);

function leastWidth(columns: readonly Column[], natural: readonly number[]): number {
  return total(columns.map(({ min }, index) => Math.min(min ?? Number.POSITIVE_INFINITY, natural[index] ?? 0)));
}

/** Which columns are shown: as many as fit at their least widths. */
function shownColumns(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const shown = columns.map((_, index) => index);
  const giving = shown
    .filter((index) => columns[index]?.givesWay !== undefined)
    .toSorted((a, b) => (columns[a]?.givesWay ?? 0) - (columns[b]?.givesWay ?? 0));
  const least = () =>
    leastWidth(
      shown.flatMap((index) => columns[index] ?? []),
      shown.map((index) => natural[index] ?? 0),
    );
  for (const next of giving) {
    if (least() <= width) break;
    shown.splice(shown.indexOf(next), 1);
  }
  return shown;
}

/** The widths that fit, or those at which nothing gives way any more: who can give away most does so first. */
export function fittedWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  for (let excess = total(widths) - width; excess > 0; excess--) {
    const spare = widths.map((each, index) => each - (columns[index]?.min ?? each));
    const most = Math.max(...spare);
    if (most <= 0) break;
    const widest = spare.indexOf(most);
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** The header and the rows as lines of at most `width` columns, without spaces at their ends. */
export function layOut(columns: readonly Column[], given: Rows, width: number): string[] {
  const rows = given.map((row) => row.map(printableLine));
  const natural = naturalWidths(columns, rows);
  const shown = shownColumns(columns, natural, width);
  const only = <T>(cells: readonly T[]): T[] => shown.flatMap((index) => cells[index] ?? []);
  const kept = only(columns);
  const widths = fittedWidths(kept, only(natural), width);
  const line = (cells: readonly string[]) => {
    const filled = kept.map(({ align }, index) => {
      const columnWidth = widths[index] ?? 0;
      return padded(cut(cells[index] ?? '', columnWidth), columnWidth, align);
    });
    return cut(filled.join(' '.repeat(GAP)).trimEnd(), width);
  };
  return [line(kept.map(({ header }) => header)), ...rows.map((row) => line(shown.map((index) => row[index] ?? '')))];
}
