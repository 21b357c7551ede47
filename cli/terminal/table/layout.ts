/** Text in columns that fits a width: first columns are left out, then the others shrink. */

import { printableLine } from '../../../base/printable.ts';
import { displayWidth, padText, truncate } from '../../../show/tables/displayWidth.ts';

export interface Column {
  readonly header: string;
  readonly align?: 'left' | 'right';
  /** The width that the column may shrink to while other columns can be left out. Absent for a column of fixed width. */
  readonly min?: number;
  /** The width that the column may shrink to once no other column can be left out; it is left out below that. */
  readonly least?: number;
  /** The order in which columns are left out if they do not fit beside the others, lowest number first. */
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

/** A column and the width of its widest cell. */
interface Candidate {
  readonly index: number;
  readonly column: Column;
  readonly natural: number;
}

/** Returns the columns that fit at their least widths, each with the width that it may shrink to. */
function shownColumns(columns: readonly Column[], natural: readonly number[], width: number): Candidate[] {
  let shown = columns.map((column, index): Candidate => ({ index, column, natural: natural[index] ?? 0 }));
  const fits = (candidates: readonly Candidate[]) =>
    leastWidth(
      candidates.map(({ column }) => column),
      candidates.map((candidate) => candidate.natural),
    ) <= width;
  const givingWay = shown
    .filter(({ column }) => column.givesWay !== undefined)
    .toSorted((a, b) => (a.column.givesWay ?? 0) - (b.column.givesWay ?? 0));
  for (const { index, column } of givingWay) {
    if (fits(shown)) break;
    const { least } = column;
    const shrunk = shown.map((each) =>
      each.index === index && least !== undefined ? { ...each, column: { ...column, min: least } } : each,
    );
    shown = fits(shrunk) ? shrunk : shown.filter((each) => each.index !== index);
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

/** Returns the header and the rows as lines of at most `width` columns, without trailing spaces. */
export function layOut(columns: readonly Column[], given: Rows, width: number): string[] {
  const rows = given.map((row) => row.map(printableLine));
  const shown = shownColumns(columns, naturalWidths(columns, rows), width);
  const widths = fittedWidths(
    shown.map(({ column }) => column),
    shown.map(({ natural }) => natural),
    width,
  );
  const line = (cells: readonly string[]) => {
    const filled = shown.map(({ index, column }, position) => {
      const columnWidth = widths[position] ?? 0;
      return padText(truncate(cells[index] ?? '', columnWidth), columnWidth, column.align);
    });
    return truncate(filled.join(' '.repeat(GAP)).trimEnd(), width);
  };
  return [line(columns.map(({ header }) => header)), ...rows.map(line)];
}
