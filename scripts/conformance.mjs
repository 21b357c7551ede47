/**
 * Lists under each rule of docs/conformance.md the tests whose titles carry its number (`C7: …`). With `--check` it
 * changes nothing and fails when the page is stale, or when a title carries the number of no rule.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup/places.mjs';

const page = join(root, 'docs/conformance.md');
const BEGIN = '<!-- tests -->';
const END = '<!-- /tests -->';

/** The titles by rule, then by file: `C7 => test/pod/backoff.test.ts => ['the first restart …']`. */
function titlesByRule() {
  const found = new Map();
  const names = readdirSync(join(root, 'test'), { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  for (const file of names.map((name) => `test/${name}`).sort()) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, , numbers, title] of text.matchAll(/(['"`])(C\d+(?:, C\d+)*): ((?:\\.|(?!\1).)+)\1/g)) {
      for (const rule of numbers.split(', ')) {
        const files = found.get(rule) ?? new Map();
        found.set(rule, files.set(file, [...(files.get(file) ?? []), title.replaceAll('\\', '')]));
      }
    }
  }
  return found;
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
