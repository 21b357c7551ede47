/**
 * Lists under each rule of docs/conformance.md the tests whose titles carry its number (`C7: …`). With `--check` it
 * changes nothing and fails when the page is stale. It always fails when a title carries the number of no rule, has it
 * in its middle, or says nothing of its own (`C7: %s`).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup/places.mjs';

const page = join(root, 'docs/conformance.md');
const BEGIN = '<!-- tests -->';
const END = '<!-- /tests -->';

const names = readdirSync(join(root, 'test'), { recursive: true }).filter((file) => file.endsWith('.test.ts'));
const sources = names
  .map((name) => `test/${name}`)
  .sort()
  .map((file) => [file, readFileSync(join(root, file), 'utf8')]);

/** The titles by rule, then by file: `C7 => test/pod/backoff.test.ts => ['the first restart …']`. */
function titlesByRule() {
  const found = new Map();
  for (const [file, text] of sources) {
    for (const [, , numbers, title] of text.matchAll(/(['"`])(C\d+(?:, C\d+)*): ((?:\\.|(?!\1).)+)\1/g)) {
      for (const rule of numbers.split(', ')) {
        const files = found.get(rule) ?? new Map();
        found.set(rule, files.set(file, [...(files.get(file) ?? []), title.replaceAll('\\', '')]));
      }
    }
  }
  return found;
}

/** What is wrong with a title, behind its file. */
function wrongTitles() {
  const titles = sources.flatMap(([file, text]) =>
    [...text.matchAll(/(?:\b(?:test|describe)|\))\(\s*(['"`])((?:\\.|(?!\1).)+)\1/g)].map((match) => [file, match[2]]),
  );
  return titles.flatMap(([file, title]) => {
    const words = title.replace(/^C\d+(?:, C\d+)*: /, '');
    if (/\bC\d+: /.test(words)) return [`${file}: a rule's number stands at the beginning: ${title}`];
    if (words !== title && !/[a-z]/i.test(words.replace(/%[a-z]/g, ''))) {
      return [`${file}: a title with a rule's number has words, in a describe around the table if need be: ${title}`];
    }
    return [];
  });
}

function listOf(titles = new Map()) {
  const lines = [...titles].flatMap(([file, each]) => [
    `- [${file}](../${file})`,
    ...[...new Set(each)].map((title) => `  - ${title}`),
  ]);
  return lines.length > 0 ? lines.join('\n') : 'No test carries this number yet.';
}

const before = readFileSync(page, 'utf8');
const rules = titlesByRule();
const sections = before.split(/^(?=## C\d+ )/m);
const known = sections.flatMap((section) => section.match(/^## (C\d+) /)?.[1] ?? []);
const unknown = [...rules.keys()].filter((rule) => !known.includes(rule));
if (unknown.length > 0) {
  console.error(`tests carry numbers of no rule: ${unknown.join(', ')}`);
  process.exit(1);
}
const wrong = wrongTitles();
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exit(1);
}
const after = sections
  .map((section) => {
    const [, rule] = section.match(/^## (C\d+) /) ?? [];
    if (rule === undefined) return section;
    const [begin, end] = [section.indexOf(BEGIN), section.indexOf(END)];
    return `${section.slice(0, begin + BEGIN.length)}\n${listOf(rules.get(rule))}\n${section.slice(end)}`;
  })
  .join('');
if (!process.argv.includes('--check')) writeFileSync(page, after);
else if (after !== before) {
  console.error('docs/conformance.md is stale: npm run conformance');
  process.exit(1);
}
