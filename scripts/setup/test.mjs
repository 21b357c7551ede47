import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { printProgress, root } from './places.mjs';
import { runStep } from './runForeground.mjs';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}` };

/** Runs all checks and tests, and prints the totals in the last line. Returns the exit code. */
export async function runTests(args) {
  const totalCounts = { passed: 0, failed: 0 };
  const add = ({ passed, failed }) => {
    totalCounts.passed += passed;
    totalCounts.failed += failed;
  };
  for (const check of scripts.check.split(' && ')) add(await runStaticCheck(check));
  add(await runJest(args));
  process.stdout.write(`${totalCounts.passed} passed, ${totalCounts.failed} failed\n`);
  return totalCounts.failed === 0 ? 0 : 1;
}

async function runStaticCheck(command) {
  const [name] = command.split(' ');
  printProgress(`checking with ${name}`);
  return (await runShell(command)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Maximum number of suites to rerun. A run in which more suites fail is broken, not flaky. */
const MAX_RERUNS = 10;

/** Options of jest whose value is the next argument. */
const OPTIONS_WITH_VALUE = ['-w', '--maxWorkers', '--testTimeout', '-c', '--config', '--seed', '--maxConcurrency'];
/** Options of jest that select suites or tests. They do not apply when a suite is rerun alone. */
const SELECTION_OPTION =
  /^(--shard|-o$|--onlyChanged|--changed|--findRelatedTests|--testPath|--lastCommit|-f$|--onlyFailures|--(select|ignore)Projects)/;

/** Returns the arguments that control how tests run, without those that select tests. */
function selectRunOptions(args) {
  return args.filter((arg, index) => {
    if (arg.startsWith('-')) return !SELECTION_OPTION.test(arg);
    return OPTIONS_WITH_VALUE.includes(args[index - 1]);
  });
}

/** Runs the tests, and then reruns each failed suite on its own. Returns the numbers of passed and failed tests. */
async function runJest(args) {
  printProgress('running the tests');
  const directory = mkdtempSync(join(tmpdir(), 'statelet-test-'));
  // Remove the directory on exit, because a signal terminates the process before any `finally`.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  // The tests start this package's programs several hundred times, so share the compiled modules.
  const compileCacheEnv = { NODE_COMPILE_CACHE: join(directory, 'compiled') };
  const isSelectedByName = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  // Use the same seed in a rerun, so that a failure that depends on the seed is not reported as flaky.
  const seedArgs = args.some((arg) => arg.startsWith('--seed')) ? [] : [`--seed=${randomInt(2 ** 31)}`];
  const run = async (name, jestArgs) => {
    const file = join(directory, `${name}.json`);
    const exitCode = await runShell(
      `${scripts.unit} "$@"`,
      ['--json', '--outputFile', file, ...seedArgs, ...jestArgs],
      compileCacheEnv,
    );
    return { code: exitCode, results: readResults(file) };
  };
  const { code, results } = await run('results', args);
  if (results === undefined) return { passed: 0, failed: 1 };
  const suites = withProjects(results);
  if (suites.length > SLOWEST_FILE_COUNT) reportDurations(suites);
  const counts = countResults(results, code, isSelectedByName);
  const failedSuites = suites.filter(({ status }) => status === 'failed');
  if (isSelectedByName || failedSuites.length > MAX_RERUNS) return counts;
  const flakySuites = [];
  for (const [index, failure] of failedSuites.entries()) {
    printProgress(`running ${describeSuite(failure)} again, alone`);
    const selection = [`--selectProjects=${failure.project}`, '--runTestsByPath', failure.name];
    const rerunResult = await run(`rerun-${index}`, [...selectRunOptions(args), ...selection]);
    if (rerunResult.code !== 0 || rerunResult.results === undefined) continue;
    const rerunCounts = countResults(rerunResult.results, rerunResult.code, false);
    if (rerunCounts.failed > 0) continue;
    counts.passed += rerunCounts.passed - countTests(failure, 'passed');
    counts.failed -= Math.max(1, countTests(failure, 'failed'));
    flakySuites.push({ failure, again: rerunCounts });
  }
  for (const { failure, again } of flakySuites) reportFlakySuite(failure, again);
  return counts;
}

/**
 * Returns the suites, each with the name of the project in which it ran. jest identifies a suite only by its path, and
 * several projects can run the same path (test/support/projectNames.ts).
 */
const withProjects = ({ testResults = [], projectNames = [] }) =>
  testResults.map((suite, index) => ({ ...suite, project: projectNames[index] }));

const describeSuite = ({ project, name }) => `${project} ${relative(root, name)}`;

const countTests = ({ assertionResults = [] }, wantedStatus) =>
  assertionResults.filter(({ status }) => status === wantedStatus).length;

/** Reports a suite that failed in the full run but passed when it was rerun alone. Each such suite is a bug. */
function reportFlakySuite(suite, { passed }) {
  process.stderr.write(`FLAKY: ${describeSuite(suite)}\n`);
  process.stderr.write(`the first run failed:\n${suite.message.trimEnd()}\n`);
  process.stderr.write(`the second run, alone, passed ${passed} tests\n`);
}

/** Returns the results that jest wrote to a file, or undefined if it could not run. */
export function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Counts the passed and the failed tests. A suite that could not run, and a run that failed although no test did, are
 * each counted as a failure. A skipped test is also counted as failed, unless tests were selected by name.
 */
export function countResults(results, code, isSelectedByName) {
  const skippedCount = isSelectedByName ? 0 : results.numPendingTests + results.numTodoTests;
  if (skippedCount > 0) printProgress(`${skippedCount} tests were left out; they count as failed`);
  const failedCount = results.numFailedTests + results.numRuntimeErrorTestSuites + skippedCount;
  return { passed: results.numPassedTests, failed: failedCount === 0 && code !== 0 ? 1 : failedCount };
}

const SLOWEST_FILE_COUNT = 20;

/** Reports the total duration of the tests, and the files that took longest. */
function reportDurations(suites) {
  const durations = suites.map((suite) => ({ name: describeSuite(suite), ms: suite.endTime - suite.startTime }));
  const formatSeconds = (ms) => `${Math.round(ms / 1_000)} s`;
  const totalMs = durations.reduce((sum, { ms }) => sum + ms, 0);
  const slowestFiles = durations.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST_FILE_COUNT);
  printProgress(`${durations.length} files took ${formatSeconds(totalMs)} of work, most of all:`);
  for (const { name, ms } of slowestFiles) printProgress(`${formatSeconds(ms).padStart(6)} ${name}`);
}

/** Redirects the output of checks to standard error, because standard output is reserved for the totals. */
function runShell(command, args = [], extraEnv = {}) {
  return runStep('/bin/sh', ['-c', command, 'sh', ...args], {
    cwd: root,
    env: { ...env, ...extraEnv },
    stdio: ['ignore', 2, 2],
  });
}
