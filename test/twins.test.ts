/** No code of the product is duplicated: any seven lines with content occur only once. */
import { expect, test } from '@jest/globals';
import { productFiles, type Source } from './support/tree.ts';

const LINES = 7;
/** A property passed on under its own name. A list of such properties is not copied logic. */
const SHORTHAND = /^[\w$]+,$/;

/** Returns the lines of a file that have content of their own. */
const linesOf = ({ text }: Source): string[] =>
  text
    .replaceAll(/^import [^;]*;$/gm, '')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .split('\n')
    .map((line) => line.replace(/\/\/ .*$/, '').trim())
    .filter((line) => /\w/.test(line) && !SHORTHAND.test(line));

/** Returns each sequence of this number of lines with the files in which it occurs, once per occurrence. */
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

test('a copied function is detected, whatever code surrounds it', () => {
  const copied = ['function sum(all) {', 'let sum = 0;', 'for (const each of all) {', 'if (each < 0) continue;'];
  const rest = ['sum += each;', '}', 'check(sum);', '', '// Rounded.', 'return Math.round(sum);', '}'];
  const files = ['a', 'b'].map((name) => ({ file: `${name}.ts`, text: [`// ${name}`, ...copied, ...rest].join('\n') }));
  expect(twinsIn(files).map(([, places]) => places)).toEqual([['a.ts', 'b.ts']]);
});
