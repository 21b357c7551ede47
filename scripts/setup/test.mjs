import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root, say } from './places.mjs';
import { runStep } from './runForeground.mjs';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}` };

/** Runs every check and every test, and ends with their numbers in one line; gives the exit code. */
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

async function jest(args) {
  say('running the tests');
  const directory = mkdtempSync(join(tmpdir(), 'statelet-test-'));
  const file = join(directory, 'results.json');
  // A signal ends the process before any `finally`.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  // The tests start a few hundred programs of this package: each of its modules is compiled once for all of them.
  const compiled = { NODE_COMPILE_CACHE: join(directory, 'compiled') };
  const code = await shell(`${scripts.unit} "$@"`, ['--json', '--outputFile', file, ...args], compiled);
  const picked = args.some((arg) => /^(-t|--testNamePattern)/.test(arg));
  return count(file, code, picked);
}

/**
 * A suite that could not run, and a run that failed in no test, are failures too. So is a test that was left out,
 * unless tests were picked by name.
 */
function count(file, code, picked) {
  try {
    const results = JSON.parse(readFileSync(file, 'utf8'));
    const leftOut = picked ? 0 : results.numPendingTests + results.numTodoTests;
    if (leftOut > 0) say(`${leftOut} tests were left out; they count as failed`);
    if (results.testResults?.length > SLOWEST) sayTimes(results.testResults);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + leftOut;
    return { passed: results.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

const SLOWEST = 15;

/** How long the tests took, and which files the most: the whole is to stay well below 20 minutes on two cores. */
function sayTimes(files) {
  const times = files.map(({ name, startTime, endTime }) => ({ name: relative(root, name), ms: endTime - startTime }));
  const seconds = (ms) => `${Math.round(ms / 1_000)} s`;
  const all = times.reduce((sum, { ms }) => sum + ms, 0);
  const slowest = times.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  say(`${times.length} files took ${seconds(all)} of work, most of all:`);
  for (const { name, ms } of slowest) say(`${seconds(ms).padStart(6)} ${name}`);
}

/** All that a check has to say goes to standard error: standard output has the numbers alone. */
function shell(command, args = [], more = {}) {
  return runStep('/bin/sh', ['-c', command, 'sh', ...args], {
    cwd: root,
    env: { ...env, ...more },
    stdio: ['ignore', 2, 2],
  });
}
