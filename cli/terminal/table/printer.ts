import { printableLine } from '../../../base/printable.ts';
import { displayWidth, padText, truncate } from '../../../show/tables/displayWidth.ts';
import { fittedWidths } from './layout.ts';

const GAP = '   ';

/** A cell as kubectl shows it: of several lines the first, with a mark. Its width is the one of what is shown. */
function shownCell(cell: string): string {
  const end = cell.search(/[\n\r\f]/);
  return printableLine(end < 0 ? cell : `${cell.slice(0, end)}...`);
}

/** Prints rows in columns; the header only before the first of them. */
export interface TablePrinter {
  print(header: readonly string[], rows: readonly (readonly string[])[]): void;
}

/** What a table may be fitted to: the columns of a terminal, and what each column of the table may shrink to. */
interface Fit {
  readonly width: number;
  readonly least: readonly (number | undefined)[];
}

interface TableOptions {
  readonly fit?: Fit | undefined;
  /** False: rows alone. */
  readonly headers?: boolean;
}

/** A printer whose columns keep the widths that they began with, so that rows that come later stand below. */
export function tablePrinter(
  write: (text: string) => unknown,
  { fit, headers = true }: TableOptions = {},
): TablePrinter {
  let widths: readonly number[] | undefined;
  const fitted = (header: readonly string[], natural: readonly number[]) => {
    if (fit === undefined) return natural;
    const columns = header.map((each, index) => ({
      header: each,
      ...(fit.least[index] === undefined ? {} : { min: fit.least[index] }),
    }));
    // Its gaps are wider than those of a live table.
    return fittedWidths(columns, natural, fit.width - columns.length + 1);
  };
  return {
    print(header, rows) {
      const shown = rows.map((cells) => cells.map(shownCell));
      const lines = widths === undefined && headers ? [header, ...shown] : shown;
      widths ??= fitted(
        header,
        header.map((_, index) => Math.max(0, ...lines.map((cells) => displayWidth(cells[index] ?? '')))),
      );
      const room = (index: number) => widths?.[index] ?? 0;
      const shownAs =
        fit === undefined ? padText : (cell: string, width: number) => padText(truncate(cell, width), width);
      const filled = lines.map((cells) => cells.map((cell, index) => shownAs(cell, room(index))));
      write(filled.map((cells) => `${cells.join(GAP).trimEnd()}\n`).join(''));
    },
  };
}
