/** No piece of the product stands twice: seven lines that say something are said once. */
import { expect, test } from '@jest/globals';
import { productFiles, type Source } from './support/tree.ts';

const LINES = 7;
/** A property passed on under its own name. A list of such properties is not copied logic. */
const SHORTHAND = /^[\w$]+,$/;

/** The lines of a file that say something of its own. */
const linesOf = ({ text }: Source): string[] =>
  text
    .replaceAll(/^import [^;]*;$/gm, '')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .split('\n')
    .map((line) => line.replace(/\/\/ .*$/, '').trim())
    .filter((line) => /\w/.test(line) && !SHORTHAND.test(line));

/** Each piece of so many lines with the files that it stands in, as often as it does. */
function piecesOf(files: readonly Source[]): Map<string, string[]> {
  const pieces = new Map<string, string[]>();
  for (const source of files) {
    const lines = linesOf(source);
    for (let at = 0; at + LINES <= lines.length; at++) {
      const piece = lines.slice(at, at + LINES).join('\n');
      pieces.set(piece, [...(pieces.get(piece) ?? []), source.file]);
    }
  }
  return pieces;
}

const twinsIn = (files: readonly Source[]) => [...piecesOf(files)].filter(([, places]) => places.length > 1);

test('no piece of the product stands twice', () => {
  expect(twinsIn(productFiles)).toEqual([]);
});

test('a copied function is found, whatever stands around it', () => {
  const copied = ['function sum(all) {', 'let sum = 0;', 'for (const each of all) {', 'if (each < 0) continue;'];
  const rest = ['sum += each;', '}', 'check(sum);', '', '// Rounded.', 'return Math.round(sum);', '}'];
  const files = ['a', 'b'].map((name) => ({ file: `${name}.ts`, text: [`// ${name}`, ...copied, ...rest].join('\n') }));
  expect(twinsIn(files).map(([, places]) => places)).toEqual([['a.ts', 'b.ts']]);
});
