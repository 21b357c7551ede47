/**
 * Text in columns that fits a width: optional columns give way first, then wide ones, each down to what it needs at least.
 */

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

/** The column that can give away most; undefined when none can any more. */
function mostSpare(columns: readonly Column[], widths: readonly number[], optional?: true): number | undefined {
  const spare = widths.map((each, index) => {
    const { min = each, optional: may } = columns[index] ?? {};
    return optional && !may ? 0 : each - min;
  });
  const most = Math.max(...spare);
  return most > 0 ? spare.indexOf(most) : undefined;
}

/** The widths that fit, or those at which nothing gives way any more. */
function fittedWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  for (let excess = total(widths) - width; excess > 0; excess--) {
    const widest = mostSpare(columns, widths, true) ?? mostSpare(columns, widths);
    if (widest === undefined) return widths;
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
