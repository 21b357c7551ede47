import { printableLine } from '../../../base/text/printable.ts';
import { displayWidth, padText, truncate } from '../../../show/tables/displayWidth.ts';
import { fitWidths } from './layout.ts';

const GAP = '   ';

/** Shortens a cell to its first line, as kubectl does. */
function cellText(cell: string): string {
  const end = cell.search(/[\n\r\f]/);
  return printableLine(end < 0 ? cell : `${cell.slice(0, end)}...`);
}

/** Prints rows in columns. The header is printed once. */
export interface TablePrinter {
  print(header: readonly string[], rows: readonly (readonly string[])[]): void;
}

/** The width of a terminal, and the minimum width of each column. */
interface Fit {
  readonly width: number;
  readonly minWidths: readonly (number | undefined)[];
}

interface TableOptions {
  readonly fit?: Fit | undefined;
  readonly headers?: boolean;
}

/** Creates a printer whose column widths are fixed by the first rows, so that later rows are aligned. */
export function tablePrinter(
  write: (text: string) => unknown,
  { fit, headers = true }: TableOptions = {},
): TablePrinter {
  let widths: readonly number[] | undefined;
  const fitColumns = (header: readonly string[], natural: readonly number[]) => {
    if (fit === undefined) return natural;
    const columns = header.map((each, index) => ({
      header: each,
      ...(fit.minWidths[index] === undefined ? {} : { min: fit.minWidths[index] }),
    }));
    // Reduce the width, because each gap is one column wider than `fitWidths` assumes.
    return fitWidths(columns, natural, fit.width - columns.length + 1);
  };
  return {
    print(header, rows) {
      const cells = rows.map((cells) => cells.map(cellText));
      const printedRows = widths === undefined && headers ? [header, ...cells] : cells;
      widths ??= fitColumns(
        header,
        header.map((_, index) => Math.max(0, ...printedRows.map((cells) => displayWidth(cells[index] ?? '')))),
      );
      const columnWidth = (index: number) => widths?.[index] ?? 0;
      const fitCell =
        fit === undefined ? padText : (cell: string, width: number) => padText(truncate(cell, width), width);
      const paddedLines = printedRows.map((cells) => cells.map((cell, index) => fitCell(cell, columnWidth(index))));
      write(paddedLines.map((cells) => `${cells.join(GAP).trimEnd()}\n`).join(''));
    },
  };
}
