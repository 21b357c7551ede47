/** Style rules that no linter here checks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from './support/root.ts';
import { productFiles, productFolders, type Source, sources } from './support/tree.ts';

/** Returns `file:line: text` for each matching line that is not a comment. */
function linesWith(pattern: RegExp, files: readonly Source[]): string[] {
  return files.flatMap(({ file, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ line, place: `${file}:${index + 1}: ${line.trim()}` }))
      .filter(({ line }) => !/^\s*(\/\/|\*|\/\*)/.test(line) && pattern.test(line))
      .map(({ place }) => place),
  );
}

/** The components of the page, which no other test here reads. */
const components = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.tsx'))
  .map((name) => ({ file: join('web', name), text: readFileSync(join(root, 'web', name), 'utf8') }));

const others = sources.filter(({ file }) => file !== 'test/style.test.ts');

test('the checked files exist', () => {
  expect(productFolders).toEqual(
    expect.arrayContaining(['actors', 'cli', 'cri', 'host', 'machines', 'node', 'kubernetes']),
  );
  expect(productFiles.length).toBeGreaterThan(150);
  expect(linesWith(/Date\.now\(\)/, sources)).not.toEqual([]);
});

test('time and randomness are read in one place', () => {
  const readings =
    /\bDate\.now\b|(?<!\.)\bset(Timeout|Interval)\((?!fn: )|\bMath\.random\b|\bnew Date\(\)|timers\/promises|AbortSignal\.timeout/;
  // Exempt are the timeouts of outside calls, and the loader of the daemon, which runs before any clock exists.
  const places = ['base/time/clock.ts:', 'base/time/timeLimit.ts:', 'cli/compileCache.mjs:'];
  const others = linesWith(readings, productFiles).filter((line) => !places.some((place) => line.startsWith(place)));
  expect(others).toEqual([]);
});

test('long delays use the clock, which supports more than the maximum of a timer', () => {
  expect(linesWith(/(?<![cC]lock)\.setTimeout\((?!0\))/, productFiles)).toEqual([]);
});

test('no check is switched off', () => {
  const switched = /@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable/;
  // A user's program that must not compile without a name. This comment checks it.
  const meant = 'test/package.test.ts: // @ts-expect-error a node has a name';
  const found = others.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line) => (switched.test(line) ? [`${file}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([meant]);
});

test('no types are imported in the middle of a line, where the import rules do not see it', () => {
  expect(linesWith(/\btypeof import\(|(?<!await )\bimport\([^)]*\)\.[A-Z]/, others)).toEqual([]);
});

test('no package is imported dynamically, because the bundle would lack the names of a CommonJS package', () => {
  expect(linesWith(/\bimport\(['"][^.]/, productFiles)).toEqual([]);
});

test('nothing is left to be done', () => {
  const left = others.filter(({ text }) => /\b(TODO|FIXME|XXX)\b|not implemented/i.test(text));
  expect(left.map(({ file }) => file)).toEqual([]);
});

test('no test is skipped or run exclusively', () => {
  expect(linesWith(/\b(test|it|describe)(\.\w+)*\.(only|todo|skip)\b|\b[fx](test|it|describe)\(/, others)).toEqual([]);
});

test('a literal is written out instead of being spread into another one to save lines', () => {
  // The second part leaves out the calls on a list (`...[a, b].map(`) and the types of rest elements.
  const folded = /\.\.\.\{|\.\.\.\[(?!\.\.\.|string)[^\]]*\](,|\)|$)/;
  expect(components.length).toBeGreaterThan(25);
  expect(linesWith(folded, [...others, ...components])).toEqual([]);
});

/** First words after which a comment has no clear subject, or with a more precise word in this field. */
const UNCLEAR_FIRST_WORDS =
  'what who whom whose how of it its that those these such so where whoever whatever whichever with until there they ' +
  'tell told telling kept held asked asks made begun given anew lack lacking';

test('a comment names its subject first', () => {
  const words = UNCLEAR_FIRST_WORDS.split(' ').join('|');
  const comment = new RegExp(`/\\*\\*\\s+(?:\\*\\s+)?(?:${words})\\b`, 'gi');
  const files = [...productFiles, ...components];
  const unclear = files.flatMap(({ file, text }) =>
    [...text.matchAll(comment)].map(({ 0: start, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${file}:${line}: ${start.replace(/\s+/g, ' ')}`;
    }),
  );
  expect(files.length).toBeGreaterThan(1_000);
  expect(unclear).toEqual([]);
});

/** Words that name nothing, and words for which this field has a more precise one. */
const VAGUE_NAMES =
  'tell told telling kept held asked asks made making begin begun given anew lacking known found seen taken ' +
  'one ones those all another whoever whatever whichever';

/** Names that are allowed, by the reason. */
const ALLOWED_NAMES: Record<string, readonly string[]> = {
  'an option of node:dns, and the key of the registry with all families': [
    'node/host/nodeNameAddress.ts: all',
    'kubelet-api/metrics/agent/nodeMetrics.ts: all',
    'kubelet-api/metrics/routes.ts: all',
  ],
  'the third parameter that Array.filter passes': ['web/panels/chart/chartArrow.tsx: all'],
  'the number of all volumes, beside those per lifecycle': ['machines/pod/context.ts: all'],
  'a limiter has slots, which are held as a lock is': [
    'cli/commands/get/readActors.ts: held',
    'cli/commands/top/view/render.ts: held',
    'inspect/protocol.ts: held',
    'inspect/shown.ts: held',
    'machines/shared/views/views.ts: held',
    'show/actors/actorNode.ts: held',
    'web/panels/navigation/bar.tsx: held',
  ],
  'a transition is taken, as the documentation of XState puts it': [
    'inspect/past/replay/actorPast.ts: taken',
    'inspect/past/replay/transitionHistory.ts: taken',
    'inspect/protocol.ts: taken',
    'web/model/chart/view.ts: taken',
    'web/model/details/detail.ts: taken',
    'web/panels/chart/chart.tsx: taken',
    'web/panels/chart/chartArrow.tsx: taken',
  ],
  'the key of a mark in a stored file': ['host/pods/podMark.ts: taken'],
  'the final state of an image that exists': ['machines/image/chart.ts: found'],
};

test('an identifier is a noun or a verb phrase of this field', () => {
  const vagueName = new RegExp(String.raw`(?<![.\w$])(${VAGUE_NAMES.replaceAll(' ', '|')})(?![\w$])`, 'g');
  // The test support for users still has its older names.
  const files = [...productFiles, ...components].filter(({ file }) => !file.startsWith('testing/'));
  const used = files.flatMap(({ file, text }) =>
    [...new Set([...codeOf(text).matchAll(vagueName)].map(([name]) => `${file}: ${name}`))].sort(),
  );
  expect(files.length).toBeGreaterThan(1_000);
  expect(used.sort()).toEqual(Object.values(ALLOWED_NAMES).flat().sort());
});

/** Matches a comment, a string or a regular expression. */
const NO_CODE =
  /\/\*[\s\S]*?\*\/|\/\/.*$|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(=,:]\s*)\/(?:[^/\\\n]|\\.)+\/[dgimsuvy]*/gm;

/** Returns the code without comments, strings, regular expressions and texts of elements. */
const codeOf = (text: string): string => text.replaceAll(NO_CODE, "''").replaceAll(/>[^<>{}=;()]*</g, '><');
