/**
 * Lays out text in columns as kubectl does (Go's `text/tabwriter`). Within a block of adjacent lines, each column is as
 * wide as its widest cell.
 */

import { printableText } from '../../base/text/printable.ts';

const GAP = 2;

/**
 * Lays out lines whose cells end with tabs. A column consists of the cells at the same position in adjacent lines. Text
 * after the last tab of a line belongs to no column.
 */
export function alignColumns(text: string): string {
  // Escape before measuring, because an escaped character is wider than the original.
  const rowCells = printableText(text)
    .split('\n')
    .map((line) => line.split('\t'));
  const widths = rowCells.map((cells) => cells.map(() => 0));
  for (let column = 0; rowCells.some((cells) => hasColumn(cells, column)); column += 1)
    setWidths(rowCells, widths, column);
  return rowCells
    .map((cells, line) =>
      cells
        .map((cell, column) => cell.padEnd(widths[line]?.[column] ?? 0))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

const hasColumn = (cells: readonly string[] | undefined, column: number): boolean =>
  cells !== undefined && column < cells.length - 1;

/** Sets the width of a column for each block of adjacent lines. */
function setWidths(lines: readonly (readonly string[])[], widths: number[][], column: number): void {
  for (let blockStart = 0; blockStart < lines.length; blockStart += 1) {
    if (!hasColumn(lines[blockStart], column)) continue;
    let blockEnd = blockStart;
    while (hasColumn(lines[blockEnd], column)) blockEnd += 1;
    const width = Math.max(...lines.slice(blockStart, blockEnd).map((cells) => cells[column]?.length ?? 0)) + GAP;
    for (const cells of widths.slice(blockStart, blockEnd)) cells[column] = width;
    blockStart = blockEnd;
  }
}

/** Indents lines by two spaces per level. */
export const indentLines = (level: number, lines: readonly string[]): string[] =>
  lines.map((line) => `${'  '.repeat(level)}${line}`);
