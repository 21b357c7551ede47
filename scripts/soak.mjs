/**
 * Runs random stories, i.e. generated test scenarios, on simulated nodes: `npm run soak -- --minutes 10 [--seed 7]`.
 * With `--cluster`, the nodes belong to a cluster. With `--each`, runs each short story once for every combination of a
 * call and a fault, injecting the fault into the call, and once for every combination of a call and an action,
 * performing the action at the time of the call. With `--pairs`, injects faults into every pair of calls. `--part 0/2`
 * runs only the first half. With `--faulty [NAME …]`, applies the bugs of test/mutations/simulated.ts to copies of the
 * package, and checks that a story that passes without the bug fails with it. With `--coverage [--stories 300]`, writes
 * docs/simulation-coverage.md, and fails if a transition was not taken without a documented reason, or was taken
 * despite such a reason.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seededFaults } from '../test/mutations/simulated.ts';
import { copyPackage, findChangeProblems, spawnInCopy, waitForExit, whileMutated } from './mutate.mjs';
import { root } from './setup/places.mjs';
import { readArguments } from './soakArguments.mjs';

/** Maximum number of stories that are run in order to find one seeded bug. */
const MAX_STORIES = 150;

const { values, positionals } = readArguments(seededFaults.map(({ name }) => name));

/** Aborted by the first signal, with the signal's name as the reason. */
const stopController = new AbortController();

process.exitCode = await run().catch((error) => {
  // Print no stack trace for a failed system call, because it is an error of the host.
  if (error.syscall === undefined) throw error;
  console.error(`soak: ${error.message}`);
  return 1;
});

/** Runs the selected mode and returns the exit code. */
async function run() {
  if (values.coverage) return writeCoverage(values.stories);
  if (values.faulty) return findSeededFaults(positionals);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stopController.abort(name));
  // Continue after the reader has closed the pipe, because failures are also written to a file.
  process.stdout.on('error', () => {});
  const haveAllPassed = await runStories();
  // Exit without waiting for stories in progress.
  return process.exit(
    stopController.signal.aborted ? 128 + constants.signals[stopController.signal.reason] : haveAllPassed ? 0 : 1,
  );
}

/** Runs the stories. Returns whether all invariants held. */
async function runStories() {
  const { minutes, seed, part, of, cluster, each, pairs } = values;
  const commonOptions = { ...(seed === undefined ? {} : { seed }), signal: stopController.signal };
  const randomOptions = { ...commonOptions, minutes, inCluster: cluster };
  if (!each && !pairs) return (await import('../testing/simulation/soak/soak.ts')).soak(randomOptions);
  const { soakFaults } = await import('../testing/simulation/soak/soakFaults.ts');
  return soakFaults({ ...commonOptions, faults: each ? 'each' : 'pairs', part, of });
}

/** Writes the page about the coverage of the machines. Returns 0 if every uncovered transition has a reason. */
async function writeCoverage(stories) {
  const pagePath = join(root, 'docs/simulation-coverage.md');
  // Check that the page is writable first, because the stories take minutes.
  closeSync(openSync(pagePath, 'a'));
  const { coverageOf, formatPage } = await import('../testing/simulation/coverage/report.ts');
  const { coverageProblems } = await import('../testing/simulation/coverage/check.ts');
  const { machines } = await import('../machines/drawing/charts.ts');
  const coverage = await coverageOf(stories);
  writeFileSync(pagePath, formatPage(coverage, machines, stories));
  const coverageProblemList = coverageProblems(coverage.byAll, machines);
  for (const misfit of coverageProblemList) console.error(misfit);
  return coverageProblemList.length === 0 ? 0 : 1;
}

/** Searches for the given seeded bugs, by default for all of them. Returns 0 if each was found. */
async function findSeededFaults(names) {
  const selectedFaults = seededFaults.filter(({ name }) => names.length === 0 || names.includes(name));
  const changeProblems = findChangeProblems(selectedFaults);
  if (changeProblems.length > 0) {
    console.error(changeProblems.join('\n'));
    return 1;
  }
  const copyDirectory = copyPackage();
  const passesUnmodified = await createBaselineCheck();
  let missedCount = 0;
  for (const fault of selectedFaults) {
    const startedAt = performance.now();
    const violationText = await findViolation(copyDirectory, fault, passesUnmodified);
    const elapsedSeconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    missedCount += violationText === undefined ? 1 : 0;
    console.log(
      `${fault.name}\t${violationText ? `found in ${elapsedSeconds} s, ${violationText}` : `NOT FOUND in ${elapsedSeconds} s`}\t${fault.breaks}`,
    );
  }
  console.log(`${selectedFaults.length - missedCount} of ${selectedFaults.length} faults found`);
  return missedCount === 0 && selectedFaults.length > 0 ? 0 : 1;
}

/** Returns a function that reports whether the unmodified node passes a story. Each story runs at most once. */
async function createBaselineCheck() {
  const { playNumbered } = await import('../testing/simulation/soak/playNumbered.ts');
  const resultByStory = new Map();
  return async (number) => {
    if (!resultByStory.has(number))
      for await (const { violation } of playNumbered([number])) resultByStory.set(number, violation === undefined);
    return resultByStory.get(number);
  };
}

/** Describes in one line the first violation in a story that the unmodified node passes. Undefined if there is none. */
function findViolation(copy, fault, passesUnmodified) {
  const otherStories = Array.from({ length: MAX_STORIES }, (_, number) => number).filter(
    (number) => number !== fault.story,
  );
  return whileMutated(copy, fault, async () => {
    for (
      let numbers = fault.story === undefined ? otherStories : [fault.story, ...otherStories];
      numbers.length > 0;
    ) {
      const violation = await findFirstViolation(copy, numbers);
      if (violation === undefined) return undefined;
      const [message] = violation.message.split('\n');
      if (await passesUnmodified(violation.number))
        return `story ${violation.number}, invariant ${violation.rule}: ${message}`;
      numbers = numbers.slice(numbers.indexOf(violation.number) + 1);
    }
    return undefined;
  });
}

/** Returns the first of the given stories in which the copy violates an invariant. */
async function findFirstViolation(copy, numbers) {
  const moduleUrl = pathToFileURL(join(copy, 'testing/simulation/soak/playNumbered.ts')).href;
  const scriptSource = `
    import { playNumbered } from ${JSON.stringify(moduleUrl)};
    for await (const { number, violation } of playNumbered(${JSON.stringify(numbers)})) {
      if (violation === undefined) continue;
      console.log(JSON.stringify({ number, rule: violation.number, message: violation.message }));
      break;
    }`;
  // Cache compiled code, because only the file with the bug changes.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(copy, '.compiled') };
  const args = ['--max-semi-space-size=32', '--input-type=module', '-e', scriptSource];
  const child = spawnInCopy(copy, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  const exitCode = await waitForExit(child);
  if (exitCode !== 0) throw new Error(`the faulty node does not run in ${root}: ${exitCode}`);
  return output === '' ? undefined : JSON.parse(output);
}
