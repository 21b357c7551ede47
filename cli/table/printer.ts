import { displayWidth, padded } from '../../pod/show/displayWidth.ts';
import { printableLine } from '../../pod/show/printable.ts';

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

/** A printer whose columns keep the widths that they began with, so that rows that come later stand below. */
export function tablePrinter(write: (text: string) => unknown): TablePrinter {
  let widths: number[] | undefined;
  return {
    print(header, rows) {
      const shown = rows.map((cells) => cells.map(shownCell));
      const lines = widths === undefined ? [header, ...shown] : shown;
      widths ??= header.map((_, index) => Math.max(...lines.map((cells) => displayWidth(cells[index] ?? ''))));
      const filled = lines.map((cells) => cells.map((cell, index) => padded(cell, widths?.[index] ?? 0)));
      write(filled.map((cells) => `${cells.join(GAP).trimEnd()}\n`).join(''));
    },
  };
}
