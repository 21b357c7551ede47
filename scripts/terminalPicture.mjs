/**
 * Converts the contents of a terminal to SVG: `tmux capture-pane -ep | node scripts/terminalPicture.mjs TITLE > x.svg`.
 * The pictures in docs/images are created with it from real runs.
 */
import { text } from 'node:stream/consumers';

const CELL_SIZE = { width: 8.43, height: 19, font: 14 };
const MARGIN = 16;
const BACKGROUND_COLOUR = '#14171c';
const TEXT_COLOUR = '#d5d9e0';
const COLOURS = {
  30: '#5b6270',
  31: '#f07178',
  32: '#9ece6a',
  33: '#e6c07b',
  34: '#7aa2f7',
  35: '#c792ea',
  36: '#7fdbca',
  37: TEXT_COLOUR,
  90: '#7d8594',
};
const defaultPen = { colour: TEXT_COLOUR, bold: false, dim: false };

/** The change that each SGR code makes to the pen, i.e. to the current text style. */
const penChanges = {
  0: defaultPen,
  1: { bold: true },
  2: { dim: true },
  22: { bold: false, dim: false },
  39: { colour: TEXT_COLOUR },
  ...Object.fromEntries(Object.entries(COLOURS).map(([code, colour]) => [code, { colour }])),
};

/** Splits lines into runs of text with the same pen. */
function splitIntoRuns(lines) {
  let pen = defaultPen;
  return lines.map((line) => {
    const runs = [];
    let column = 0;
    for (const [index, piece] of line.split('\x1b[').entries()) {
      const [, codes = '', words = ''] = index === 0 ? ['', '', piece] : (piece.match(/^([\d;]*)m(.*)$/s) ?? []);
      if (index > 0) for (const code of codes.split(';')) pen = { ...pen, ...penChanges[Number(code)] };
      if (words !== '') runs.push({ column, words, pen });
      column += [...words].length;
    }
    return runs;
  });
}

// Use no-break spaces, because SVG collapses adjacent spaces.
const escapeXml = (words) =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(' ', '\u00a0');
const roundToHundredth = (number) => Number(number.toFixed(2));

function renderRun({ column, words, pen }, row) {
  const x = roundToHundredth(MARGIN + column * CELL_SIZE.width);
  const y = MARGIN + row * CELL_SIZE.height + CELL_SIZE.font;
  // Set `textLength`, so that the columns are aligned in every font.
  const textLength = roundToHundredth([...words].length * CELL_SIZE.width);
  const weightAttribute = pen.bold ? ' font-weight="700"' : '';
  const opacityAttribute = pen.dim ? ' opacity=".6"' : '';
  return `<text x="${x}" y="${y}" textLength="${textLength}" fill="${pen.colour}"${weightAttribute}${opacityAttribute}>${escapeXml(words)}</text>`;
}

const terminalLines = (await text(process.stdin)).replace(/\s+$/, '').split('\n');
const runRows = splitIntoRuns(terminalLines);
const columns = Math.max(...runRows.flat().map(({ column, words }) => column + [...words].length));
const width = Math.ceil(2 * MARGIN + columns * CELL_SIZE.width);
const height = 2 * MARGIN + runRows.length * CELL_SIZE.height;
const textElements = runRows.flatMap((runs, row) =>
  runs.filter(({ words }) => words.trim() !== '').map((run) => renderRun(run, row)),
);
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escapeXml(process.argv[2] ?? 'a terminal')}</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND_COLOUR}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${CELL_SIZE.font}">
${textElements.join('\n')}
</g>
</svg>
`);
