const GAP = '   ';

/** Prints rows in columns; the header only before the first of them. */
export interface TablePrinter {
  print(header: readonly string[], rows: readonly (readonly string[])[]): void;
}

/** A printer whose columns keep the widths that they began with, so that rows that come later stand below. */
export function tablePrinter(write: (text: string) => unknown): TablePrinter {
  let widths: number[] | undefined;
  return {
    print(header, rows) {
      const lines = widths === undefined ? [header, ...rows] : rows;
      widths ??= header.map((_, index) => Math.max(...lines.map((cells) => cells[index]?.length ?? 0)));
      const padded = lines.map((cells) => cells.map((cell, index) => cell.padEnd(widths?.[index] ?? 0)));
      write(padded.map((cells) => `${cells.join(GAP).trimEnd()}\n`).join(''));
    },
  };
}
