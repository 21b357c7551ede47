/**
 * Runs jest on the tests: `npm run unit -- PATH …`. With `--changed`, runs the tests that uncommitted changes can affect, and
 * with `--changed=main`, those that the changes since the merge base with `main` can affect. Leaves out the tests that take
 * minutes, and names them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { printProgress, root } from './setup/places.mjs';
import { runForeground } from './setup/runForeground.mjs';

const JEST = [
  '--max-semi-space-size=32',
  '--no-compilation-cache',
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  join(root, 'node_modules/jest/bin/jest.js'),
];
/** Tests that run real containers, whole clusters or thousands of stories. */
const SLOW_TEST = /^test\/(e2e|testing\/simulation|mutations)\/|^test\/(package|exampleProject)\.test\.ts$/;
/** Tests of the source tree itself, which read files instead of importing them. */
const TREE_TEST = /^test\/([^/]+|docs\/.*)\.test\.ts$/;

/** Returns the paths of the tests that the changes since a revision can affect, except for the slow ones. */
function testsOfChange(revision) {
  const changedFiles = lines('git', ['diff', '--name-only', '--merge-base', revision]).concat(
    lines('git', ['ls-files', '--others', '--exclude-standard']),
  );
  if (changedFiles.length === 0) {
    printProgress(revision === 'HEAD' ? 'no uncommitted changes' : `no changes since ${revision}`);
    return [];
  }
  const existingFiles = changedFiles.filter((file) => existsSync(join(root, file)));
  const importingTests = listTests(['--findRelatedTests', ...existingFiles]);
  const treeTests = listTests([]).filter((test) => TREE_TEST.test(test));
  const affectedTests = [...new Set([...importingTests, ...treeTests])];
  const slowTests = affectedTests.filter((test) => SLOW_TEST.test(test));
  if (slowTests.length > 0) {
    const subject = slowTests.length === 1 ? '1 slow test is' : `${slowTests.length} slow tests are`;
    printProgress(`${subject} left out: ${slowTests.join(' ')}`);
  }
  return affectedTests.filter((test) => !SLOW_TEST.test(test));
}

function listTests(selection) {
  return lines(process.execPath, [...JEST, '--listTests', ...selection]).map((file) => relative(root, file));
}

function lines(program, programArgs) {
  const output = execFileSync(program, programArgs, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return output.split('\n').filter(Boolean);
}

const args = process.argv.slice(2);
const changedArg = args.find((arg) => /^--changed(=|$)/.test(arg));
if (changedArg === undefined) {
  process.exitCode = await runForeground(process.execPath, [...JEST, ...args]);
} else {
  const tests = testsOfChange(changedArg.split('=')[1] ?? 'HEAD');
  const otherArgs = args.filter((arg) => arg !== changedArg);
  if (tests.length > 0)
    process.exitCode = await runForeground(process.execPath, [...JEST, ...otherArgs, '--runTestsByPath', ...tests]);
}
