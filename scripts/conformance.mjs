/**
 * Lists the tests of each rule in docs/conformance.md. A test belongs to a rule if its title starts with the rule's
 * number (`C7: …`). With `--check`, writes nothing and fails if the page is stale. Always fails if a title contains the
 * number of an unknown rule, contains a rule's number anywhere but at its start, or consists only of the number (`C7:
 * %s`). Also fails if a rule is marked as done or partly done but no mutation breaks it. With `--mutate [C7 …]`, breaks
 * the rules on purpose instead, and fails if no test of a broken rule fails.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutations } from '../test/mutations/index.ts';
import { findMutationProblems, mutate } from './mutate.mjs';
import { root } from './setup/places.mjs';

const pagePath = join(root, 'docs/conformance.md');
const START_MARKER = '<!-- tests -->';
const END_MARKER = '<!-- /tests -->';

const testFileNames = readdirSync(join(root, 'test'), { recursive: true }).filter((file) => file.endsWith('.test.ts'));
const testSources = testFileNames
  .map((name) => `test/${name}`)
  .sort()
  .map((file) => [file, readFileSync(join(root, file), 'utf8')]);

/**
 * Returns the titles of the tests by rule and file: `C7 => test/kubernetes/lifecycle/backoff.test.ts => ['the first
 * restart …']`.
 */
function titlesByRule() {
  const titlesOfRules = new Map();
  for (const [file, text] of testSources) {
    for (const [, , numbers, title] of text.matchAll(/(['"`])(C\d+(?:, C\d+)*): ((?:\\.|(?!\1).)+)\1/g)) {
      for (const rule of numbers.split(', ')) {
        const titlesByFile = titlesOfRules.get(rule) ?? new Map();
        titlesOfRules.set(
          rule,
          titlesByFile.set(file, [...(titlesByFile.get(file) ?? []), title.replaceAll('\\', '')]),
        );
      }
    }
  }
  return titlesOfRules;
}

/** Returns a message for each malformed test title. */
function titleProblems() {
  const titles = testSources.flatMap(([file, text]) =>
    [...text.matchAll(/(?:\b(?:test|describe)|\))\(\s*(['"`])((?:\\.|(?!\1).)+)\1/g)].map((match) => [file, match[2]]),
  );
  return titles.flatMap(([file, title]) => {
    const titleText = title.replace(/^C\d+(?:, C\d+)*: /, '');
    if (/\bC\d+: /.test(titleText))
      return [`${file}: the number of a rule belongs at the start of the title: ${title}`];
    if (titleText !== title && !/[a-z]/i.test(titleText.replace(/%[a-z]/g, ''))) {
      return [
        `${file}: a title needs words besides the number of a rule; for a table, put the number into a describe: ${title}`,
      ];
    }
    return [];
  });
}

/** Formats the tests of a rule, and the mutations that make them fail. */
function formatRuleTests(rule, titles = new Map()) {
  const testLines = [...titles].flatMap(([file, each]) => [
    `- [${file}](../${file})`,
    ...[...new Set(each)].map((title) => `  - ${title}`),
  ]);
  const mutationLines = mutations
    .filter((mutation) => mutation.rule === rule)
    .map(({ breaks, file }) => `- ${breaks} ([${file}](../${file}))`);
  return [
    ...(testLines.length > 0 ? testLines : ['No test has this number yet.']),
    ...(mutationLines.length > 0 ? ['', 'Mutations that make its tests fail:', '', ...mutationLines] : []),
  ].join('\n');
}

function exitWithError(lines) {
  console.error(lines.join('\n'));
  process.exit(1);
}

const currentText = readFileSync(pagePath, 'utf8');
const titlesOfRules = titlesByRule();
const sections = currentText.split(/^(?=## C\d+ )/m);
const ruleOfSection = (section) => section.match(/^## (C\d+) /)?.[1];
const documentedRules = sections.flatMap((section) => ruleOfSection(section) ?? []);
const mutatedRules = mutations.map(({ rule }) => rule);

const unknownRules = [...titlesOfRules.keys(), ...mutatedRules].filter((rule) => !documentedRules.includes(rule));
if (unknownRules.length > 0)
  exitWithError([`tests or mutations have numbers of unknown rules: ${unknownRules.join(', ')}`]);
const problems = [...titleProblems(), ...findMutationProblems()];
if (problems.length > 0) exitWithError(problems);
/** Rules that the page marks as done or partly done. Each needs a mutation that proves that its tests can fail. */
const implementedRules = sections.filter((section) => /^\*\*Today: (done|partly)/m.test(section)).map(ruleOfSection);
const rulesWithoutMutation = implementedRules.filter((rule) => !mutatedRules.includes(rule));
if (rulesWithoutMutation.length > 0)
  exitWithError(
    rulesWithoutMutation.map((rule) => `${rule} is marked as followed, but no mutation in test/mutations breaks it`),
  );

const [command, ...picked] = process.argv.slice(2);
if (command === '--mutate') {
  const fastTestFiles = (rule) =>
    [...(titlesOfRules.get(rule)?.keys() ?? [])].filter((file) => !/^test\/(e2e|vm)\//.test(file));
  process.exit(await mutate(picked, fastTestFiles));
}
const updatedText = sections
  .map((section) => {
    const rule = ruleOfSection(section);
    if (rule === undefined) return section;
    const [begin, end] = [section.indexOf(START_MARKER), section.indexOf(END_MARKER)];
    return `${section.slice(0, begin + START_MARKER.length)}\n${formatRuleTests(rule, titlesOfRules.get(rule))}\n${section.slice(end)}`;
  })
  .join('');
if (command !== '--check') writeFileSync(pagePath, updatedText);
else if (updatedText !== currentText) exitWithError(['docs/conformance.md is stale: npm run conformance']);
