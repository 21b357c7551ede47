import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const script = 'scripts/conformance.mjs';
/** Number of a rule. The template prevents that this file itself is scanned as a test of that rule. */
const rule = `C${7}`;

/** Lists the tests in a copy of the package. */
function list(directory: string, ...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [join(directory, script), ...args], { encoding: 'utf8' });
  return { status, stderr: stderr.trim() };
}

test('the page of conformance lists the tests as they are', () => {
  expect(list(root, '--check')).toEqual({ status: 0, stderr: '' });
});

describe('the list of tests', () => {
  const made: string[] = [];
  afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true }))));

  /** Creates a package with one rule and these tests. */
  async function packageOf(tests: string, { today = '', mutations = '[]' } = {}): Promise<string> {
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'statelet-conformance-')));
    made.push(directory);
    for (const path of [script, 'scripts/mutate.mjs', 'scripts/setup/places.mjs'])
      await cp(join(root, path), join(directory, path));
    for (const folder of ['docs', 'test/mutations']) await mkdir(join(directory, folder), { recursive: true });
    await writeFile(
      join(directory, 'docs/conformance.md'),
      `## ${rule} Rule\n\n${today}\n\n<!-- tests -->\n<!-- /tests -->\n`,
    );
    await writeFile(join(directory, 'test/one.test.ts'), tests.replaceAll('Rule', rule));
    await writeFile(
      join(directory, 'test/mutations/index.ts'),
      `export const mutations = ${mutations.replaceAll('Rule', rule)};`,
    );
    return directory;
  }

  test('has the titles that carry the number, of tests, describes and tables', async () => {
    const directory = await packageOf(
      `test('Rule: one', x); describe("Rule: two", x); test.each([['Rule: three %']])('%s', x);test.each([])('Rule: a %s', x);`,
    );
    expect(list(directory)).toEqual({ status: 0, stderr: '' });
    const page = await readFile(join(directory, 'docs/conformance.md'), 'utf8');
    expect(page.split('\n').filter((line) => line.startsWith('  - '))).toEqual([
      '  - one',
      '  - two',
      '  - three %',
      '  - a %s',
    ]);
  });

  test.each([
    ["test.each([])('Rule: %s', x)", 'needs words'],
    ["test.each([])('Rule: %s: %j', x)", 'needs words'],
    ["test('ends, and Rule: the phase', x)", 'belongs at the start'],
    ["describe('Rule: ends, and Rule: the phase', x)", 'belongs at the start'],
  ])('is rejected with the test %s', async (tests, why) => {
    const { status, stderr } = list(await packageOf(tests));
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`test/one.test.ts: `) });
    expect(stderr).toContain(why);
  });

  const breaking = `[{ rule: 'Rule', breaks: 'it ends late', file: 'docs/conformance.md', find: 'soon', put: 'late' }]`;

  test('has the ways to break a rule beside its tests', async () => {
    const directory = await packageOf(`test('Rule: one', x)`, {
      today: '**Today: done.** It ends soon.',
      mutations: breaking,
    });
    expect(list(directory)).toEqual({ status: 0, stderr: '' });
    const page = await readFile(join(directory, 'docs/conformance.md'), 'utf8');
    expect(page).toContain('- it ends late ([docs/conformance.md](../docs/conformance.md))');
  });

  test.each([
    [
      'that is called kept and that nothing breaks',
      '**Today: done.** It ends soon.',
      '[]',
      'no mutation in test/mutations breaks it',
    ],
    [
      'whose mutation does not fit the code',
      '**Today: done.** It ends.',
      breaking,
      'occurs 0 times in docs/conformance.md',
    ],
  ])('is rejected with a rule %s', async (_, today, mutations, why) => {
    const { status, stderr } = list(await packageOf(`test('Rule: one', x)`, { today, mutations }));
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(why) });
  });
});
