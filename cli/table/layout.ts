/** Text in columns that fits a width: wide columns give way first, down to what each needs at least. */

export interface Column {
  readonly header: string;
  readonly align?: 'left' | 'right';
  /** The least width to shrink to; absent for a column that always keeps its full width. */
  readonly min?: number;
  /** A column that is left out when the others do not fit beside it. */
  readonly optional?: true;
}

const GAP = 2;

/** Cuts a text to a width and marks the cut. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

function naturalWidths(columns: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  return columns.map(({ header }, index) => Math.max(header.length, ...rows.map((row) => row[index]?.length ?? 0)));
}

const total = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width + GAP, -GAP);

/** The widths that fit, or those at which nothing gives way any more. */
function fittedWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  for (let excess = total(widths) - width; excess > 0; excess--) {
    const spare = widths.map((each, index) => each - (columns[index]?.min ?? each));
    const widest = spare.indexOf(Math.max(...spare));
    if ((spare[widest] ?? 0) <= 0) return widths;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function leastWidth(columns: readonly Column[], natural: readonly number[]): number {
  return total(columns.map(({ min }, index) => Math.min(min ?? Number.POSITIVE_INFINITY, natural[index] ?? 0)));
}

/** The header and the rows as lines of at most `width` characters, without spaces at their ends. */
export function layOut(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const natural = naturalWidths(columns, rows);
  const optional = columns.findLastIndex((column) => column.optional);
  if (optional >= 0 && leastWidth(columns, natural) > width) {
    const without = <T>(cells: readonly T[]) => cells.filter((_, index) => index !== optional);
    return layOut(without(columns), rows.map(without), width);
  }
  const widths = fittedWidths(columns, natural, width);
  const line = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, index) => {
      const [cell, columnWidth] = [cut(cells[index] ?? '', widths[index] ?? 0), widths[index] ?? 0];
      return align === 'right' ? cell.padStart(columnWidth) : cell.padEnd(columnWidth);
    });
    return cut(padded.join(' '.repeat(GAP)).trimEnd(), width);
  };
  return [line(columns.map(({ header }) => header)), ...rows.map(line)];
}
