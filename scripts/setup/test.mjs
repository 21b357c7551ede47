import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, say } from './places.mjs';
import { runForeground } from './runForeground.mjs';

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
  try {
    const code = await shell(`${scripts.unit} "$@"`, ['--json', '--outputFile', file, ...args]);
    return count(file, code);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A suite that could not run, and a run that failed in no test, are failures too. */
function count(file, code) {
  try {
    const results = JSON.parse(readFileSync(file, 'utf8'));
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    return { passed: results.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

/** All that a check has to say goes to standard error: standard output has the numbers alone. */
function shell(command, args = []) {
  return runForeground('/bin/sh', ['-c', command, 'sh', ...args], { cwd: root, env, stdio: ['ignore', 2, 2] });
}
