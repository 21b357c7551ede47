/**
 * Breaks each rule on purpose and looks whether a test of that rule goes red: `npm run conformance -- --mutate [C7 …]`.
 * The mutations stand in test/mutations. Each is made in a copy of the package, and only the tests whose titles carry
 * the rule's number are run, those of `test/e2e` only where the mutation names them.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { mutations } from '../test/mutations/index.ts';
import { node24, root, say } from './setup/places.mjs';

const LONGEST_RUN_MS = 300_000;
const leftOut = new Set(['node_modules', 'dist', '.git', 'coverage']);

/** What keeps a mutation from being made: its text has to stand in its file exactly once. */
export const misfits = () => misfitsOf(mutations.map(({ rule, ...rest }) => ({ name: rule, ...rest })));

/** The same of other changes that are to be made. */
export function misfitsOf(changes) {
  return changes.flatMap(({ name, file, find }) => {
    const times = readFileSync(join(root, file), 'utf8').split(find).length - 1;
    return times === 1
      ? []
      : [`${name}: stands ${times} times in ${file}, not once; test/mutations is to follow the code: ${find}`];
  });
}

/** Makes the mutations of these rules, or all, and gives the exit code: 0 when each turned a test of its rule red. */
export async function mutate(picked, filesOf) {
  const wanted = mutations.filter(({ rule }) => picked.length === 0 || picked.includes(rule));
  const copies = Array.from({ length: Math.min(availableParallelism(), wanted.length) }, copyOfPackage);
  const queue = [...wanted];
  const survivors = [];
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutation = queue.shift(); mutation; mutation = queue.shift()) {
        const verdict = await verdictOn(copy, mutation, mutation.tests ?? filesOf(mutation.rule));
        process.stdout.write(`${mutation.rule}\t${verdict}\t${mutation.breaks}\n`);
        if (verdict !== 'red') survivors.push(mutation);
      }
    }),
  );
  process.stdout.write(
    `${wanted.length - survivors.length} of ${wanted.length} mutations turned tests of their rule red\n`,
  );
  return survivors.length === 0 && wanted.length > 0 ? 0 : 1;
}

/** A copy that anything can be done to; it is gone when the process ends, also by a signal. */
export function copyOfPackage() {
  const copy = mkdtempSync(join(tmpdir(), 'statelet-mutations-'));
  // What runs in it may still write there.
  process.once('exit', () => rmSync(copy, { recursive: true, force: true, maxRetries: 10 }));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, endBy);
  cpSync(root, copy, { recursive: true, filter: (source) => !leftOut.has(relative(root, source)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The programs that run in copies. */
const running = new Set();
let isEnding = false;

/** Starts one, which a signal to us ends before its copy goes. */
export function spawnInCopy(copy, args, options) {
  const child = spawn(node24, args, { cwd: copy, ...options });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Its exit code, or null; never where a signal ends us: then there is nothing to be said of it. */
export const exitOf = (child) =>
  new Promise((resolve) => {
    child.once('close', (code) => {
      if (!isEnding) resolve(code);
    });
  });

async function endBy(name) {
  if (isEnding) return;
  isEnding = true;
  const closed = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(closed);
  process.exit(128 + constants.signals[name]);
}

/** What the tests of a rule said of the code as it is, asked for once. */
const soundness = new Map();

/** Red only when the same tests are green without the mutation. */
async function verdictOn(copy, { rule, file, find, put }, tests) {
  if (tests.length === 0) return 'no test carries the number';
  const key = [rule, ...tests].join();
  if (!soundness.has(key)) soundness.set(key, await run(copy, rule, tests));
  const before = soundness.get(key);
  if (before.failed !== 0 || before.passed === 0) return `not green before: ${said(before)}`;
  const after = await whileMutated(copy, { file, find, put }, () => run(copy, rule, tests));
  if (after.broken > 0) return `does not run: ${said(after)}`;
  return after.failed > 0 ? 'red' : `SURVIVED: ${said(after)}`;
}

/** Does something while a file of the copy has the mutation. */
export async function whileMutated(copy, { file, find, put }, act) {
  const place = join(copy, file);
  const text = readFileSync(place, 'utf8');
  writeFileSync(
    place,
    text.replace(find, () => put),
  );
  try {
    return await act();
  } finally {
    writeFileSync(place, text);
  }
}

const said = ({ passed, failed }) => `${failed} of ${passed + failed} tests failed`;

/** Runs those tests of the files whose titles carry the rule's number. */
async function run(copy, rule, tests) {
  const results = join(copy, 'results.json');
  rmSync(results, { force: true });
  const jest = join(copy, 'node_modules/jest/bin/jest.js');
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const args = ['--json', '--outputFile', results, '-t', `\\b${rule}\\b`, '--runTestsByPath', ...tests];
  await exitOf(spawnInCopy(copy, [...flags, jest, ...args], { stdio: 'ignore', timeout: LONGEST_RUN_MS }));
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(results, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests, broken: numRuntimeErrorTestSuites };
  } catch {
    say(`${rule}: the tests ended without a result, or not within ${LONGEST_RUN_MS / 1000} s`);
    return { passed: 0, failed: 0, broken: 1 };
  }
}
