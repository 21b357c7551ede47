/**
 * Breaks each rule on purpose and checks that a test of that rule fails: `npm run conformance -- --mutate [C7 …]`. The
 * mutations are in test/mutations. Each one is applied to a copy of the package, and only the tests whose titles
 * contain the rule's number run in that copy. Tests in `test/e2e` run only if the mutation names them.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { mutations } from '../test/mutations/index.ts';
import { node24, printProgress, root } from './setup/places.mjs';

const TEST_TIMEOUT_MS = 300_000;
const excludedNames = new Set(['node_modules', 'dist', '.git', 'coverage']);

/**
 * Returns a message for each mutation that cannot be applied. A mutation requires that the text to replace occurs
 * exactly once in the file.
 */
export const findMutationProblems = () =>
  findChangeProblems(mutations.map(({ rule, ...rest }) => ({ name: rule, ...rest })));

/** Returns a message for each change that cannot be applied. */
export function findChangeProblems(changes) {
  return changes.flatMap(({ name, file, find }) => {
    const occurrences = readFileSync(join(root, file), 'utf8').split(find).length - 1;
    return occurrences === 1
      ? []
      : [`${name}: occurs ${occurrences} times in ${file}, expected once; update test/mutations: ${find}`];
  });
}

/**
 * Applies the mutations of the given rules, or of all rules. Returns the exit code, which is 0 if each mutation made a
 * test of its rule fail.
 */
export async function mutate(selectedRules, filesOf) {
  const selectedMutations = mutations.filter(({ rule }) => selectedRules.length === 0 || selectedRules.includes(rule));
  const copies = Array.from({ length: Math.min(availableParallelism(), selectedMutations.length) }, copyPackage);
  const queue = [...selectedMutations];
  const survivors = [];
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutation = queue.shift(); mutation; mutation = queue.shift()) {
        const mutationVerdict = await testMutation(copy, mutation, mutation.tests ?? filesOf(mutation.rule));
        process.stdout.write(`${mutation.rule}\t${mutationVerdict}\t${mutation.breaks}\n`);
        if (mutationVerdict !== 'red') survivors.push(mutation);
      }
    }),
  );
  process.stdout.write(
    `${selectedMutations.length - survivors.length} of ${selectedMutations.length} mutations made tests of their rule fail\n`,
  );
  return survivors.length === 0 && selectedMutations.length > 0 ? 0 : 1;
}

/**
 * Copies the package to a temporary directory that is removed when the process exits, even if a signal terminates it.
 */
export function copyPackage() {
  const copyDirectory = mkdtempSync(join(tmpdir(), 'statelet-mutations-'));
  // Retry, because programs that run in the copy may still be writing to it.
  process.once('exit', () => rmSync(copyDirectory, { recursive: true, force: true, maxRetries: 10 }));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, stopBySignal);
  cpSync(root, copyDirectory, { recursive: true, filter: (source) => !excludedNames.has(relative(root, source)) });
  symlinkSync(join(root, 'node_modules'), join(copyDirectory, 'node_modules'));
  return copyDirectory;
}

/** Programs that are running in copies of the package. */
const runningChildren = new Set();
let isStopping = false;

/** Starts a program in a copy. A signal to this process terminates the program before the copy is removed. */
export function spawnInCopy(copy, args, options) {
  const child = spawn(node24, args, { cwd: copy, ...options });
  runningChildren.add(child);
  child.once('close', () => runningChildren.delete(child));
  return child;
}

/**
 * Returns the exit code, or null if the program was killed. Never settles if this process is exiting because of a
 * signal.
 */
export const waitForExit = (child) =>
  new Promise((resolve) => {
    child.once('close', (code) => {
      if (!isStopping) resolve(code);
    });
  });

async function stopBySignal(name) {
  if (isStopping) return;
  isStopping = true;
  const closePromises = [...runningChildren].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of runningChildren) child.kill('SIGTERM');
  await Promise.all(closePromises);
  process.exit(128 + constants.signals[name]);
}

/** Results of each rule's tests without a mutation, by rule and test files. */
const baselines = new Map();

/**
 * Runs the tests without and with a mutation. Returns `red` if they pass only without it, and otherwise a description
 * of the result.
 */
async function testMutation(copy, { rule, file, find, put }, tests) {
  if (tests.length === 0) return 'no test has the number';
  const key = [rule, ...tests].join();
  if (!baselines.has(key)) baselines.set(key, await run(copy, rule, tests));
  const baseline = baselines.get(key);
  if (baseline.failed !== 0 || baseline.passed === 0) return `not green before: ${resultText(baseline)}`;
  const mutatedResult = await whileMutated(copy, { file, find, put }, () => run(copy, rule, tests));
  if (mutatedResult.broken > 0) return `does not run: ${resultText(mutatedResult)}`;
  return mutatedResult.failed > 0 ? 'red' : `SURVIVED: ${resultText(mutatedResult)}`;
}

/** Runs `action` while the mutation is applied to a file of the copy. */
export async function whileMutated(copy, { file, find, put }, action) {
  const path = join(copy, file);
  const originalText = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    originalText.replace(find, () => put),
  );
  try {
    return await action();
  } finally {
    writeFileSync(path, originalText);
  }
}

const resultText = ({ passed, failed }) => `${failed} of ${passed + failed} tests failed`;

/** Runs the tests in the given files whose titles contain the rule's number. */
async function run(copy, rule, tests) {
  const resultsFile = join(copy, 'results.json');
  rmSync(resultsFile, { force: true });
  const jestPath = join(copy, 'node_modules/jest/bin/jest.js');
  const nodeFlags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const args = ['--json', '--outputFile', resultsFile, '-t', `\\b${rule}\\b`, '--runTestsByPath', ...tests];
  await waitForExit(
    spawnInCopy(copy, [...nodeFlags, jestPath, ...args], { stdio: 'ignore', timeout: TEST_TIMEOUT_MS }),
  );
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(resultsFile, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests, broken: numRuntimeErrorTestSuites };
  } catch {
    printProgress(`${rule}: the tests produced no results within ${TEST_TIMEOUT_MS / 1000} s`);
    return { passed: 0, failed: 0, broken: 1 };
  }
}
