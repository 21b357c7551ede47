/** The budgets that keep the code readable, and what no linter here looks for. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const product = /^(actors|cli|cri|kube|machines|pod|server|volume)\//;

interface Source {
  readonly file: string;
  readonly text: string;
}

const elsewhere = new Set(['node_modules', 'dist', 'docs', 'coverage', 'cri/generated']);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return elsewhere.has(file) || entry.name.startsWith('.') ? [] : filesBelow(file);
    return /[.](ts|mjs|cjs)$/.test(file) ? [file] : [];
  });
}

const sources: readonly Source[] = filesBelow('').map((file) => ({
  file,
  text: readFileSync(join(root, file), 'utf8'),
}));

/** `file:line: text` of each line that matches, comments aside. */
function linesWith(pattern: RegExp, files: readonly Source[]): string[] {
  return files.flatMap(({ file, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ line, place: `${file}:${index + 1}: ${line.trim()}` }))
      .filter(({ line }) => !/^\s*(\/\/|\*|\/\*)/.test(line) && pattern.test(line))
      .map(({ place }) => place),
  );
}

const productFiles = sources.filter(({ file }) => product.test(file));
const others = sources.filter(({ file }) => file !== 'test/style.test.ts');

test('there is something to look at', () => {
  expect(productFiles.length).toBeGreaterThan(150);
  expect(linesWith(/Date\.now\(\)/, sources)).not.toEqual([]);
});

test('a file of the product is at most 300 lines long, a test file 400', () => {
  const long = sources
    .map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }))
    .filter(({ file, lines }) => lines > (file.startsWith('test/') ? 400 : 300));
  expect(long).toEqual([]);
});

test('the time and chance are read in one place', () => {
  const readings =
    /\bDate\.now\b|(?<!\.)\bset(Timeout|Interval)\((?!fn: )|\bMath\.random\b|\bnew Date\(\)|timers\/promises/;
  // What loads the daemon is there before any clock.
  const places = ['actors/clock.ts:', 'cli/keptCode.mjs:'];
  const others = linesWith(readings, productFiles).filter((line) => !places.some((place) => line.startsWith(place)));
  expect(others).toEqual([]);
});

test('whatever may be long waits through the clock, which counts further than a timer', () => {
  const limits = /AbortSignal\.timeout\((?!\d[\d_]*\)|[A-Z][A-Z_]*\))|(?<![cC]lock)\.setTimeout\((?!0\))/;
  // The steps of a limit; how long a containerd of our own may take to start.
  const places = ['cri/limit.ts:', 'cri/managed/launch.ts:'];
  const found = linesWith(limits, productFiles);
  expect(found.filter((line) => !places.some((place) => line.startsWith(place)))).toEqual([]);
});

test('no check is switched off', () => {
  expect(linesWith(/@ts-(ignore|expect-error|nocheck)|biome-ignore/, others)).toEqual([]);
});

test('no types are imported in the middle of a line, where the import rules do not see it', () => {
  expect(linesWith(/\btypeof import\(|(?<!await )\bimport\([^)]*\)\.[A-Z]/, others)).toEqual([]);
});

test('no package is imported late: in the bundle the names of one in CommonJS would be missing', () => {
  expect(linesWith(/\bimport\(['"][^.]/, productFiles)).toEqual([]);
});

test('nothing is left to be done', () => {
  const left = others.filter(({ text }) => /\b(TODO|FIXME|XXX)\b|not implemented/i.test(text));
  expect(left.map(({ file }) => file)).toEqual([]);
});

test('no test is put off or run alone', () => {
  expect(linesWith(/\b(test|it|describe)(\.\w+)*\.(only|todo|skip)\b|\b[fx](test|it|describe)\(/, others)).toEqual([]);
});
