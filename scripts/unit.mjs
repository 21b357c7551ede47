/**
 * Runs jest on the tests: `npm run unit -- PATH …`. With `--changed`, runs the tests that uncommitted changes can
 * affect, and with `--changed=main`, those that the changes since the merge base with `main` can affect. To finish in
 * about a minute, such a run skips slow tests and those that are farthest from the change, and prints their names.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { printProgress, root } from './setup/places.mjs';
import { runForeground } from './setup/runForeground.mjs';

const JEST = [
  '--max-semi-space-size=32',
  '--no-compilation-cache',
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  join(root, 'node_modules/jest/bin/jest.js'),
];
const TEST = /^test\/(?!vm\/).*\.test\.ts$/;
/** Matches the paths of tests that run real containers, whole clusters or thousands of stories. */
const SLOW_TEST = /^test\/(e2e|testing\/simulation|mutations)\/|^test\/(package|exampleProject)\.test\.ts$/;
/** Matches the paths of tests of the source tree itself, which read files instead of importing them. */
const TREE_TEST = /^test\/([^/]+|docs\/.*)\.test\.ts$/;
/** Matches imports of relative paths, except for `import type`, which is erased and therefore cannot affect a test. */
const IMPORT = /(?:^|\n)(?:import|export)\s(?!type\s)[^;'"]*'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/g;

/**
 * Maximum total duration of the tests selected for a change, in milliseconds. A run takes less time, because several
 * tests run in parallel.
 */
const BUDGET_MS = 90_000;
/**
 * Assumed duration, in milliseconds, of a test that has not run on this host. Tests that run a whole node take longer
 * than all others.
 */
const NODE_TEST_MS = 5_000;
const OTHER_TEST_MS = 500;
/** The module that assembles a node. */
const WHOLE_NODE = 'actors/node/createNode.ts';

/**
 * Returns the paths of the tests that the changes since a revision can affect, nearest ones first, as far as the budget
 * allows.
 */
function testsOfChange(revision) {
  const changedFiles = outputLines('git', ['diff', '--name-only', '--merge-base', revision]).concat(
    outputLines('git', ['ls-files', '--others', '--exclude-standard']),
  );
  if (changedFiles.length === 0) {
    printProgress(revision === 'HEAD' ? 'no uncommitted changes' : `no changes since ${revision}`);
    return [];
  }
  const files = listSources();
  const importersOf = findImporters(files);
  const distances = distancesFrom(changedFiles, importersOf);
  const tests = files.filter((file) => TEST.test(file) && (distances.has(file) || TREE_TEST.test(file)));
  reportSkippedTests(
    tests.filter((test) => SLOW_TEST.test(test)),
    'slow',
  );
  const subjects = changedFiles.flatMap(subjectsOf);
  const isAboutChange = (test) => subjects.some((subject) => test.toLowerCase().includes(subject));
  const rankOf = (test) => (TREE_TEST.test(test) || isAboutChange(test) ? 0 : distances.get(test));
  const durations = readDurations();
  const nodeTests = distancesFrom([WHOLE_NODE], importersOf);
  const durationOf = (test) => durations.get(test) ?? (nodeTests.has(test) ? NODE_TEST_MS : OTHER_TEST_MS);
  const nearestTests = tests
    .filter((test) => !SLOW_TEST.test(test))
    .sort((a, b) => rankOf(a) - rankOf(b) || durationOf(a) - durationOf(b));
  let selectedCount = 0;
  for (let restMs = BUDGET_MS; selectedCount < nearestTests.length; selectedCount += 1) {
    restMs -= durationOf(nearestTests[selectedCount]);
    if (restMs < 0) break;
  }
  reportSkippedTests(nearestTests.slice(selectedCount), 'distant');
  return nearestTests.slice(0, selectedCount);
}

function reportSkippedTests(tests, kind) {
  if (tests.length === 0) return;
  const subject = tests.length === 1 ? `1 ${kind} test is` : `${tests.length} ${kind} tests are`;
  printProgress(`${subject} left out: ${tests.join(' ')}`);
}

/** Returns the paths of all modules and tests. */
function listSources() {
  const files = outputLines('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '*.ts',
    '*.tsx',
    '*.mjs',
  ]);
  return files.filter((file) => statSync(join(root, file), { throwIfNoEntry: false })?.isFile());
}

/** Returns a map from each file to the files that import it. */
function findImporters(files) {
  const importersOf = new Map();
  for (const file of files) {
    for (const [, from, dynamic] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
      const imported = normalize(join(dirname(file), from ?? dynamic));
      importersOf.set(imported, [...(importersOf.get(imported) ?? []), file]);
    }
  }
  return importersOf;
}

/**
 * Returns the files that import any of the given files, directly or indirectly, each with the number of imports between
 * it and the nearest given file.
 */
function distancesFrom(startFiles, importersOf) {
  const distances = new Map(startFiles.map((file) => [file, 0]));
  // This loop also visits the files that it adds to the map.
  for (const [file, distance] of distances) {
    for (const importer of importersOf.get(file) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  }
  return distances;
}

/** Returns the names of a file and its folder. The paths of the tests for the same subject contain these names. */
function subjectsOf(file) {
  const names = [basename(file).replace(/(\.test)?\.\w+$/, ''), basename(dirname(file))];
  return names.map((name) => name.toLowerCase()).filter((name) => name.length > 3 && !GENERIC_NAMES.has(name));
}

/** Names of files and folders that do not identify a subject. */
const GENERIC_NAMES = new Set([
  'chart',
  'context',
  'index',
  'main',
  'states',
  'shared',
  'support',
  'actors',
  'node',
  'test',
]);

/** Returns the test durations that jest has recorded on this host, in milliseconds. */
function readDurations() {
  const { configs } = JSON.parse(execFileSync(process.execPath, [...JEST, '--showConfig'], { cwd: root }));
  const [{ cacheDirectory, id }] = configs;
  try {
    const name = readdirSync(cacheDirectory).find((file) => file.startsWith(`perf-cache-${id}`));
    const entries = Object.entries(JSON.parse(readFileSync(join(cacheDirectory, name), 'utf8')));
    return new Map(entries.map(([path, [, durationMs]]) => [path.slice(root.length + 1), durationMs]));
  } catch {
    // Return no durations, because no test has run yet.
    return new Map();
  }
}

function outputLines(program, programArgs) {
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
