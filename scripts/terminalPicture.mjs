/**
 * Converts the contents of a terminal to SVG: `tmux capture-pane -ep | node scripts/terminalPicture.mjs TITLE > x.svg`.
 * The pictures in docs/images are created with it from real runs.
 */
import { text } from 'node:stream/consumers';

const CELL = { width: 8.43, height: 19, font: 14 };
const MARGIN = 16;
const PAPER = '#14171c';
const INK = '#d5d9e0';
const COLOURS = {
  30: '#5b6270',
  31: '#f07178',
  32: '#9ece6a',
  33: '#e6c07b',
  34: '#7aa2f7',
  35: '#c792ea',
  36: '#7fdbca',
  37: INK,
  90: '#7d8594',
};
const plain = { colour: INK, bold: false, dim: false };

/** The effect of each SGR code on the pen. */
const changes = {
  0: plain,
  1: { bold: true },
  2: { dim: true },
  22: { bold: false, dim: false },
  39: { colour: INK },
  ...Object.fromEntries(Object.entries(COLOURS).map(([code, colour]) => [code, { colour }])),
};

/** Splits lines into runs of text with the same pen. */
function runsOf(lines) {
  let pen = plain;
  return lines.map((line) => {
    const runs = [];
    let column = 0;
    for (const [index, piece] of line.split('\x1b[').entries()) {
      const [, codes = '', words = ''] = index === 0 ? ['', '', piece] : (piece.match(/^([\d;]*)m(.*)$/s) ?? []);
      if (index > 0) for (const code of codes.split(';')) pen = { ...pen, ...changes[Number(code)] };
      if (words !== '') runs.push({ column, words, pen });
      column += [...words].length;
    }
    return runs;
  });
}

// Use no-break spaces, because SVG collapses adjacent spaces.
const escaped = (words) =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(' ', '\u00a0');
const rounded = (number) => Number(number.toFixed(2));

function drawn({ column, words, pen }, row) {
  const x = rounded(MARGIN + column * CELL.width);
  const y = MARGIN + row * CELL.height + CELL.font;
  // `textLength` keeps the columns aligned in every font.
  const length = rounded([...words].length * CELL.width);
  const weight = pen.bold ? ' font-weight="700"' : '';
  const opacity = pen.dim ? ' opacity=".6"' : '';
  return `<text x="${x}" y="${y}" textLength="${length}" fill="${pen.colour}"${weight}${opacity}>${escaped(words)}</text>`;
}

const lines = (await text(process.stdin)).replace(/\s+$/, '').split('\n');
const rows = runsOf(lines);
const columns = Math.max(...rows.flat().map(({ column, words }) => column + [...words].length));
const width = Math.ceil(2 * MARGIN + columns * CELL.width);
const height = 2 * MARGIN + rows.length * CELL.height;
const inked = rows.flatMap((runs, row) =>
  runs.filter(({ words }) => words.trim() !== '').map((run) => drawn(run, row)),
);
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escaped(process.argv[2] ?? 'a terminal')}</title>
<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${CELL.font}">
${inked.join('\n')}
</g>
</svg>
`);
