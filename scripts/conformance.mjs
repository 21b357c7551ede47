/**
 * Lists under each rule of docs/conformance.md the tests whose titles start with its number (`C7: …`). With `--check`,
 * writes nothing and fails if the page is stale. Always fails if a title has the number of an unknown rule, has a
 * number in its middle or has no other words (`C7: %s`), and if a rule is marked as followed but no mutation breaks it.
 * With `--mutate [C7 …]`, breaks the rules on purpose instead, and fails if no test of a broken rule fails.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutations } from '../test/mutations/index.ts';
import { mutate, mutationProblems } from './mutate.mjs';
import { root } from './setup/places.mjs';

const page = join(root, 'docs/conformance.md');
const BEGIN = '<!-- tests -->';
const END = '<!-- /tests -->';

const names = readdirSync(join(root, 'test'), { recursive: true }).filter((file) => file.endsWith('.test.ts'));
const sources = names
  .map((name) => `test/${name}`)
  .sort()
  .map((file) => [file, readFileSync(join(root, file), 'utf8')]);

/**
 * Returns the titles by rule and file: `C7 => test/kubernetes/lifecycle/backoff.test.ts => ['the first restart …']`.
 */
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

/** Returns a message for each malformed title. */
function titleProblems() {
  const titles = sources.flatMap(([file, text]) =>
    [...text.matchAll(/(?:\b(?:test|describe)|\))\(\s*(['"`])((?:\\.|(?!\1).)+)\1/g)].map((match) => [file, match[2]]),
  );
  return titles.flatMap(([file, title]) => {
    const words = title.replace(/^C\d+(?:, C\d+)*: /, '');
    if (/\bC\d+: /.test(words)) return [`${file}: the number of a rule belongs at the start of the title: ${title}`];
    if (words !== title && !/[a-z]/i.test(words.replace(/%[a-z]/g, ''))) {
      return [
        `${file}: a title needs words besides the number of a rule; for a table, put the number into a describe: ${title}`,
      ];
    }
    return [];
  });
}

/** Formats the tests of a rule, and the mutations that make them fail. */
function listOf(rule, titles = new Map()) {
  const lines = [...titles].flatMap(([file, each]) => [
    `- [${file}](../${file})`,
    ...[...new Set(each)].map((title) => `  - ${title}`),
  ]);
  const broken = mutations
    .filter((mutation) => mutation.rule === rule)
    .map(({ breaks, file }) => `- ${breaks} ([${file}](../${file}))`);
  return [
    ...(lines.length > 0 ? lines : ['No test has this number yet.']),
    ...(broken.length > 0 ? ['', 'Mutations that make its tests fail:', '', ...broken] : []),
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
if (unknown.length > 0) fail([`tests or mutations have numbers of unknown rules: ${unknown.join(', ')}`]);
const problems = [...titleProblems(), ...mutationProblems()];
if (problems.length > 0) fail(problems);
/** Rules that the page marks as followed. Each needs a mutation that proves that its tests can fail. */
const followed = sections.filter((section) => /^\*\*Today: (done|partly)/m.test(section)).map(ruleOf);
const unproven = followed.filter((rule) => !broken.includes(rule));
if (unproven.length > 0)
  fail(unproven.map((rule) => `${rule} is marked as followed, but no mutation in test/mutations breaks it`));

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
