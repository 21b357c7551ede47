/**
 * Lists under each rule of docs/conformance.md the tests whose titles carry its number (`C7: …`). With `--check` it
 * changes nothing and fails when the page is stale. It always fails when a title carries the number of no rule, has it
 * in its middle, or says nothing of its own (`C7: %s`), and when a rule is called kept that no mutation breaks. With
 * `--mutate [C7 …]` it breaks the rules on purpose instead, and fails when no test of a rule notices.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutations } from '../test/mutations/index.ts';
import { misfits, mutate } from './mutate.mjs';
import { root } from './setup/places.mjs';

const page = join(root, 'docs/conformance.md');
const BEGIN = '<!-- tests -->';
const END = '<!-- /tests -->';

const names = readdirSync(join(root, 'test'), { recursive: true }).filter((file) => file.endsWith('.test.ts'));
const sources = names
  .map((name) => `test/${name}`)
  .sort()
  .map((file) => [file, readFileSync(join(root, file), 'utf8')]);

/** The titles by rule, then by file: `C7 => test/kubernetes/lifecycle/backoff.test.ts => ['the first restart …']`. */
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

/** The tests that carry a rule's number, and how the rule can be broken so that they go red. */
function listOf(rule, titles = new Map()) {
  const lines = [...titles].flatMap(([file, each]) => [
    `- [${file}](../${file})`,
    ...[...new Set(each)].map((title) => `  - ${title}`),
  ]);
  const broken = mutations
    .filter((mutation) => mutation.rule === rule)
    .map(({ breaks, file }) => `- ${breaks} ([${file}](../${file}))`);
  return [
    ...(lines.length > 0 ? lines : ['No test carries this number yet.']),
    ...(broken.length > 0 ? ['', 'Broken on purpose, a test of it goes red:', '', ...broken] : []),
  ].join('\n');
}

function fail(lines) {
  console.error(lines.join('\n'));
  process.exit(1);
}

const before = readFileSync(page, 'utf8');
const rules = titlesByRule();
const sections = before.split(/^(?=## C\d+ )/m);
const ruleOf = (section) => section.match(/^## (C\d+) /)?.[1];
const known = sections.flatMap((section) => ruleOf(section) ?? []);
const broken = mutations.map(({ rule }) => rule);

const unknown = [...rules.keys(), ...broken].filter((rule) => !known.includes(rule));
if (unknown.length > 0) fail([`tests or mutations carry numbers of no rule: ${unknown.join(', ')}`]);
const wrong = [...wrongTitles(), ...misfits()];
if (wrong.length > 0) fail(wrong);
/** A rule is kept only where something goes red when it is broken. */
const kept = sections.filter((section) => /^\*\*Today: (done|partly)/m.test(section)).map(ruleOf);
const claims = kept.filter((rule) => !broken.includes(rule));
if (claims.length > 0)
  fail(claims.map((rule) => `${rule} is called kept, but no mutation in test/mutations breaks it`));

const [command, ...picked] = process.argv.slice(2);
if (command === '--mutate') {
  const fastTests = (rule) => [...(rules.get(rule)?.keys() ?? [])].filter((file) => !file.startsWith('test/e2e/'));
  process.exit(await mutate(picked, fastTests));
}
const after = sections
  .map((section) => {
    const rule = ruleOf(section);
    if (rule === undefined) return section;
    const [begin, end] = [section.indexOf(BEGIN), section.indexOf(END)];
    return `${section.slice(0, begin + BEGIN.length)}\n${listOf(rule, rules.get(rule))}\n${section.slice(end)}`;
  })
  .join('');
if (command !== '--check') writeFileSync(page, after);
else if (after !== before) fail(['docs/conformance.md is stale: npm run conformance']);
