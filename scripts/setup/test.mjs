import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root, say } from './places.mjs';
import { runStep } from './runForeground.mjs';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}` };

/** Runs all checks and tests, and prints the totals in the last line. Returns the exit code. */
export async function test(args) {
  const total = { passed: 0, failed: 0 };
  const add = ({ passed, failed }) => {
    total.passed += passed;
    total.failed += failed;
  };
  for (const check of scripts.check.split(' && ')) add(await staticCheck(check));
  add(await jest(args));
  process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
  return total.failed === 0 ? 0 : 1;
}

async function staticCheck(command) {
  const [name] = command.split(' ');
  say(`checking with ${name}`);
  return (await shell(command)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Maximum number of suites to rerun. A run in which more suites fail is broken, not flaky. */
const MAX_RERUNS = 10;

/** Options of jest whose value is the next argument. */
const OPTIONS_WITH_VALUE = ['-w', '--maxWorkers', '--testTimeout', '-c', '--config', '--seed', '--maxConcurrency'];
/** Options of jest that select suites. They do not apply to a suite that runs alone. */
const SELECTIONS =
  /^(--shard|-o$|--onlyChanged|--changed|--findRelatedTests|--testPath|--lastCommit|-f$|--onlyFailures)/;

/** Returns the arguments that control how tests run, without those that select tests. */
function howToRun(args) {
  return args.filter((arg, index) => {
    if (arg.startsWith('-')) return !SELECTIONS.test(arg);
    return OPTIONS_WITH_VALUE.includes(args[index - 1]);
  });
}

/** Runs the tests, then each suite that failed once more, alone. Returns the numbers of passed and failed tests. */
async function jest(args) {
  say('running the tests');
  const directory = mkdtempSync(join(tmpdir(), 'statelet-test-'));
  // Remove the directory on exit, because a signal terminates the process before any `finally`.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  // The tests start this package's programs several hundred times, so share the compiled modules.
  const compiled = { NODE_COMPILE_CACHE: join(directory, 'compiled') };
  const picked = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  const run = async (name, jestArgs) => {
    const file = join(directory, `${name}.json`);
    const code = await shell(`${scripts.unit} "$@"`, ['--json', '--outputFile', file, ...jestArgs], compiled);
    return { code, results: resultsIn(file) };
  };
  const { code, results } = await run('results', args);
  if (results === undefined) return { passed: 0, failed: 1 };
  if (results.testResults?.length > SLOWEST) sayTimes(results.testResults);
  const numbers = numbersOf(results, code, picked);
  const failures = (results.testResults ?? []).filter(({ status }) => status === 'failed');
  if (picked || failures.length > MAX_RERUNS) return numbers;
  const flaky = [];
  for (const [index, failure] of failures.entries()) {
    say(`running ${relative(root, failure.name)} again, alone`);
    const rerun = await run(`rerun-${index}`, [...howToRun(args), '--runTestsByPath', failure.name]);
    if (rerun.code !== 0 || rerun.results === undefined) continue;
    const again = numbersOf(rerun.results, rerun.code, false);
    if (again.failed > 0) continue;
    numbers.passed += again.passed - testsOf(failure, 'passed');
    numbers.failed -= Math.max(1, testsOf(failure, 'failed'));
    flaky.push({ failure, again });
  }
  for (const { failure, again } of flaky) sayFlaky(failure, again);
  return numbers;
}

const testsOf = ({ assertionResults = [] }, wanted) =>
  assertionResults.filter(({ status }) => status === wanted).length;

/** Reports a suite that failed among the others and passed alone. Each such suite is a bug. */
function sayFlaky({ name, message }, { passed }) {
  process.stderr.write(`FLAKY: ${relative(root, name)}\n`);
  process.stderr.write(`the first run failed:\n${message.trimEnd()}\n`);
  process.stderr.write(`the second run, alone, passed ${passed} tests\n`);
}

/** Returns the results that jest wrote to a file, or undefined if it could not run. */
function resultsIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Counts the passed and the failed tests. A suite that could not run, and a run that failed although no test did, count
 * as failures. A skipped test counts as failed as well, unless tests were selected by name.
 */
function numbersOf(results, code, picked) {
  const leftOut = picked ? 0 : results.numPendingTests + results.numTodoTests;
  if (leftOut > 0) say(`${leftOut} tests were left out; they count as failed`);
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + leftOut;
  return { passed: results.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}

const SLOWEST = 20;

/** Reports how long the tests took, and which files took longest. */
function sayTimes(files) {
  const times = files.map(({ name, startTime, endTime }) => ({ name: relative(root, name), ms: endTime - startTime }));
  const seconds = (ms) => `${Math.round(ms / 1_000)} s`;
  const all = times.reduce((sum, { ms }) => sum + ms, 0);
  const slowest = times.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  say(`${times.length} files took ${seconds(all)} of work, most of all:`);
  for (const { name, ms } of slowest) say(`${seconds(ms).padStart(6)} ${name}`);
}

/** Redirects the output of checks to standard error, because standard output is reserved for the totals. */
function shell(command, args = [], more = {}) {
  return runStep('/bin/sh', ['-c', command, 'sh', ...args], {
    cwd: root,
    env: { ...env, ...more },
    stdio: ['ignore', 2, 2],
  });
}
