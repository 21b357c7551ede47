/** Each file of the product is loaded by a test, or run by one as a program. */
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { productFiles, type Source, sources } from './support/tree.ts';

/** Files that run as separate programs, each with the test that runs it. */
const RUN_BY: Readonly<Record<string, string>> = {
  'actors/sources/manifest/manifestWorker.ts': 'test/actors/sources/manifest/manifestReader.test.ts',
  'cli/bin.mjs': 'test/cli/launcher.test.ts',
  'cli/main.ts': 'test/cli/process.test.ts',
  'stats/pods/usageChild.ts': 'test/stats/pods/volumeUsage.test.ts',
};

const files = new Set(sources.map(({ file }) => file));
const hasValues = ({ text }: Source): boolean => /^export (default|async|function|const|class|let|\{)/m.test(text);

const imports = new Map(
  sources.map(({ file, text }) => {
    const specifiers = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)];
    const programs = Object.keys(RUN_BY).filter((program) => RUN_BY[program] === file);
    return [file, [...programs, ...specifiers.map(([, path = '']) => join(dirname(file), path))]];
  }),
);

/** Returns the files that `roots` import, directly or through others. */
function reachedFrom(roots: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const queue = [...roots];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    queue.push(...(imports.get(file) ?? []));
  }
  return reached;
}

test('each file of the product is loaded by a test', () => {
  const tests = [...files].filter((file) => file.endsWith('.test.ts'));
  const reached = reachedFrom(tests);
  expect(tests.length).toBeGreaterThan(500);
  expect(productFiles.filter((each) => hasValues(each) && !reached.has(each.file)).map(({ file }) => file)).toEqual([]);
});

test('each program is run by an existing test', () => {
  expect([...Object.keys(RUN_BY), ...Object.values(RUN_BY)].filter((file) => !files.has(file))).toEqual([]);
});
