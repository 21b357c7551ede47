/** Checks the tool that checks the import rules, which would find no violations in files that it cannot parse. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let tree = '';

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'statelet-imports-'));
  for (const file of ['.dependency-cruiser.cjs', 'package.json']) cpSync(join(root, file), join(tree, file));
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
});

afterEach(() => rmSync(tree, { recursive: true, force: true }));

/** Returns the violations in a tree of files, as `rule: from → to`. */
function violations(files: Readonly<Record<string, string>>): string[] {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
  const depcruise = join(tree, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [depcruise, '--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...folders(files)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' });
  expect(stderr).toBe('');
  return [...stdout.matchAll(/^ +error (\S+: \S+(?: → \S+)?)/gm)].map(([, violation = '']) => violation);
}

const folders = (files: Readonly<Record<string, string>>) => [
  ...new Set(Object.keys(files).map((file) => file.split('/')[0] ?? '')),
];

const used = `import './used.ts';\n`;

test('allowed imports are accepted', () => {
  expect(
    violations({
      'kubernetes/a.ts': `import * as z from 'zod/mini';\nexport const a = z.string();\n`,
      'machines/b.ts': `import { setup } from 'xstate';\nimport { a } from '../kubernetes/a.ts';\nexport const b = [setup, a];\n`,
      'socket/c.ts': `import { createServer } from 'node:http';\nimport type { b } from '../machines/b.ts';\n`,
      'volume/ownership.ts': `import { open } from 'node:fs/promises';\n`,
    }),
  ).toEqual([]);
});

test.each([
  ['a type from a folder above', 'kubernetes/a.ts', `import type { X } from '../cri/used.ts';\n`],
  ['a type named in braces', 'kubernetes/a.ts', `import { type X } from '../cri/used.ts';\n`],
  ['what is passed on', 'machines/a.ts', `export type { X } from '../cri/used.ts';\n`],
  ['everything that is passed on', 'machines/a.ts', `export * from '../cri/used.ts';\n`],
  ['what is imported late', 'socket/a.ts', `export const a = async () => await import('../cri/used.ts');\n`],
  ['a package', 'kubernetes/a.ts', `${used}import 'xstate';\n`],
  ['a package that only development has', 'cli/a.ts', `${used}import 'esbuild';\n`],
  ['the disk, from the machines', 'machines/a.ts', `${used}import type { Stats } from 'node:fs';\n`],
  ['the disk, from a service', 'actors/a.ts', `${used}import { open } from 'node:fs/promises';\n`],
  ['the disk, from a plugin', 'volume/a.ts', `${used}import { readFileSync } from 'node:fs';\n`],
  ['what works on the host alone', 'host/pods/a.ts', `${used}import '../files/removeTree.ts';\n`],
  ['the command line', 'socket/a.ts', `import '../cli/used.ts';\n`],
  ['tests', 'cli/a.ts', `import type { X } from '../test/used.ts';\n`],
])('a forbidden import is detected: %s', (_, file, text) => {
  const folder = dirname(file);
  const found = violations({
    [file]: text,
    [`${folder}/used.ts`]: 'export type X = 1;\n',
    'cri/used.ts': 'export type X = 1;\n',
    'host/files/removeTree.ts': 'export type X = 1;\n',
    'cli/used.ts': 'export type X = 1;\n',
    'test/used.ts': 'export type X = 1;\n',
  });
  expect(found).toContainEqual(expect.stringMatching(`: ${file} → `));
});

test('a circle of types: found', () => {
  const found = violations({
    'kubernetes/a.ts': `import type { B } from './b.ts';\nexport interface A { b?: B }\n`,
    'kubernetes/b.ts': `import type { C } from './c.ts';\nexport interface B { c?: C }\n`,
    'kubernetes/c.ts': `import type { A } from './a.ts';\nexport interface C { a?: A }\n`,
  });
  expect(found).toContainEqual(expect.stringMatching('^no-circle: '));
});

test('a module that nothing imports is detected', () => {
  expect(violations({ 'volume/a.ts': 'export const a = 1;\n' })).toEqual(['no-orphan: volume/a.ts']);
});
