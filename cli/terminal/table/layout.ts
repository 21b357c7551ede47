/**
 * Lays out text in columns of a limited total width. If the width is insufficient, columns are dropped first, and then
 * the remaining ones shrink.
 */

import { printableLine } from '../../../base/text/printable.ts';
import { displayWidth, padText, truncate } from '../../../show/tables/displayWidth.ts';

export interface Column {
  readonly header: string;
  readonly align?: 'left' | 'right';
  /** Minimum width while other columns can be dropped. Undefined for a column of fixed width. */
  readonly min?: number;
  /** Minimum width once no other column can be dropped. Below it, the column itself is dropped. */
  readonly reducedMin?: number;
  /** Columns that do not fit are dropped in this order, lowest number first. Undefined if the column must stay. */
  readonly dropOrder?: number;
}

const GAP = 2;

type Rows = readonly (readonly string[])[];

function naturalWidths(columns: readonly Column[], rows: Rows): number[] {
  return columns.map(({ header }, index) =>
    rows.reduce((max, row) => Math.max(max, displayWidth(row[index] ?? '')), header.length),
  );
}

const totalWidth = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width + GAP, -GAP);

function minTotalWidth(columns: readonly Column[], natural: readonly number[]): number {
  return totalWidth(columns.map(({ min }, index) => Math.min(min ?? Number.POSITIVE_INFINITY, natural[index] ?? 0)));
}

/** A column and the width of its widest cell. */
interface CandidateColumn {
  readonly index: number;
  readonly column: Column;
  readonly naturalWidth: number;
}

/** Returns the columns that fit at their minimum widths. */
function selectColumns(columns: readonly Column[], naturalWidths: readonly number[], width: number): CandidateColumn[] {
  let candidates = columns.map(
    (column, index): CandidateColumn => ({ index, column, naturalWidth: naturalWidths[index] ?? 0 }),
  );
  const fitsWidth = (candidates: readonly CandidateColumn[]) =>
    minTotalWidth(
      candidates.map(({ column }) => column),
      candidates.map((candidate) => candidate.naturalWidth),
    ) <= width;
  const droppableColumns = candidates
    .filter(({ column }) => column.dropOrder !== undefined)
    .toSorted((a, b) => (a.column.dropOrder ?? 0) - (b.column.dropOrder ?? 0));
  for (const { index, column } of droppableColumns) {
    if (fitsWidth(candidates)) break;
    const { reducedMin } = column;
    const shrunkColumns = candidates.map((each) =>
      each.index === index && reducedMin !== undefined ? { ...each, column: { ...column, min: reducedMin } } : each,
    );
    candidates = fitsWidth(shrunkColumns) ? shrunkColumns : candidates.filter((each) => each.index !== index);
  }
  return candidates;
}

/** Shrinks the columns with the most spare width until all columns fit or none has any spare width left. */
export function fitWidths(columns: readonly Column[], naturalWidths: readonly number[], width: number): number[] {
  const widths = [...naturalWidths];
  for (let excess = totalWidth(widths) - width; excess > 0; excess--) {
    const spareWidths = widths.map((each, index) => each - (columns[index]?.min ?? each));
    const maxSpare = Math.max(...spareWidths);
    if (maxSpare <= 0) break;
    const widestIndex = spareWidths.indexOf(maxSpare);
    widths[widestIndex] = (widths[widestIndex] ?? 0) - 1;
  }
  return widths;
}

/** Returns the header and the rows as lines of at most `width` columns, without trailing spaces. */
export function layOut(columns: readonly Column[], cells: Rows, width: number): string[] {
  const rows = cells.map((row) => row.map(printableLine));
  const visibleColumns = selectColumns(columns, naturalWidths(columns, rows), width);
  const widths = fitWidths(
    visibleColumns.map(({ column }) => column),
    visibleColumns.map(({ naturalWidth }) => naturalWidth),
    width,
  );
  const line = (cells: readonly string[]) => {
    const paddedCells = visibleColumns.map(({ index, column }, position) => {
      const columnWidth = widths[position] ?? 0;
      return padText(truncate(cells[index] ?? '', columnWidth), columnWidth, column.align);
    });
    return truncate(paddedCells.join(' '.repeat(GAP)).trimEnd(), width);
  };
  return [line(columns.map(({ header }) => header)), ...rows.map(line)];
}
