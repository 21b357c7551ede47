/**
 * Runs random stories on simulated nodes: `npm run soak -- --minutes 10 [--seed 7]`, with `--cluster` on nodes of a
 * cluster. With `--each`, runs the short stories with every fault at each of their calls and every action at each of
 * these times; with `--pairs`, with faults at every pair of calls; `--part 0/2` runs the first half. With `--faulty
 * [NAME …]`, applies the bugs of test/mutations/simulated.ts to copies of the package, and checks that a story that
 * passes without the bug fails with it. With `--coverage [--stories 300]`, writes docs/simulation-coverage.md, and
 * fails if a transition without a documented reason was not taken, or one with a reason was.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seededFaults } from '../test/mutations/simulated.ts';
import { changeProblems, copyOfPackage, exitOf, spawnInCopy, whileMutated } from './mutate.mjs';
import { root } from './setup/places.mjs';
import { readArguments } from './soakArguments.mjs';

/** Maximum number of stories that are run to find one seeded bug. */
const MAX_STORIES = 150;

const { values, positionals } = readArguments(seededFaults.map(({ name }) => name));

/** Aborted by the first signal, with the signal's name as the reason. */
const stop = new AbortController();

process.exitCode = await run().catch((error) => {
  // A failed system call is an error of the host, which needs no stack trace.
  if (error.syscall === undefined) throw error;
  console.error(`soak: ${error.message}`);
  return 1;
});

/** Runs the selected mode and returns the exit code. */
async function run() {
  if (values.coverage) return writeCoverage(values.stories);
  if (values.faulty) return findSeededFaults(positionals);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stop.abort(name));
  // Continue after the reader has closed the pipe, because failures are also written to a file.
  process.stdout.on('error', () => {});
  const allPassed = await runStories();
  // Exit without waiting for stories in progress.
  return process.exit(stop.signal.aborted ? 128 + constants.signals[stop.signal.reason] : allPassed ? 0 : 1);
}

/** Returns whether all invariants held. */
async function runStories() {
  const { minutes, seed, part, of, cluster, each, pairs } = values;
  const common = { ...(seed === undefined ? {} : { seed }), signal: stop.signal };
  const random = { ...common, minutes, inCluster: cluster };
  if (!each && !pairs) return (await import('../testing/simulation/soak/soak.ts')).soak(random);
  const { soakFaults } = await import('../testing/simulation/soak/soakFaults.ts');
  return soakFaults({ ...common, faults: each ? 'each' : 'pairs', part, of });
}

/** Writes the page about the coverage of the machines. Returns 0 if every uncovered transition has a reason. */
async function writeCoverage(stories) {
  const page = join(root, 'docs/simulation-coverage.md');
  // Check that the page is writable first, because the stories take minutes.
  closeSync(openSync(page, 'a'));
  const { coverageOf, formatPage } = await import('../testing/simulation/coverage/report.ts');
  const { coverageProblems } = await import('../testing/simulation/coverage/check.ts');
  const { machines } = await import('../machines/drawing/charts.ts');
  const reached = await coverageOf(stories);
  writeFileSync(page, formatPage(reached, machines, stories));
  const misfits = coverageProblems(reached.byAll, machines);
  for (const misfit of misfits) console.error(misfit);
  return misfits.length === 0 ? 0 : 1;
}

/** Returns 0 if each of the given seeded bugs was found. By default, searches for all of them. */
async function findSeededFaults(names) {
  const wanted = seededFaults.filter(({ name }) => names.length === 0 || names.includes(name));
  const misfits = changeProblems(wanted);
  if (misfits.length > 0) {
    console.error(misfits.join('\n'));
    return 1;
  }
  const copy = copyOfPackage();
  const sound = await soundStories();
  let missed = 0;
  for (const fault of wanted) {
    const startedAt = performance.now();
    const found = await findIn(copy, fault, sound);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    missed += found === undefined ? 1 : 0;
    console.log(
      `${fault.name}\t${found ? `found in ${seconds} s, ${found}` : `NOT FOUND in ${seconds} s`}\t${fault.breaks}`,
    );
  }
  console.log(`${wanted.length - missed} of ${wanted.length} faults found`);
  return missed === 0 && wanted.length > 0 ? 0 : 1;
}

/** Returns a function that reports whether the unmodified node passes a story. Each story runs at most once. */
async function soundStories() {
  const { playNumbered } = await import('../testing/simulation/soak/playNumbered.ts');
  const known = new Map();
  return async (number) => {
    if (!known.has(number))
      for await (const { violation } of playNumbered([number])) known.set(number, violation === undefined);
    return known.get(number);
  };
}

/** Describes in one line the first violation that only the faulty node has. Undefined if there is none. */
function findIn(copy, fault, isSound) {
  const others = Array.from({ length: MAX_STORIES }, (_, number) => number).filter((number) => number !== fault.story);
  return whileMutated(copy, fault, async () => {
    for (let numbers = fault.story === undefined ? others : [fault.story, ...others]; numbers.length > 0; ) {
      const broken = await firstBroken(copy, numbers);
      if (broken === undefined) return undefined;
      const [message] = broken.message.split('\n');
      if (await isSound(broken.number)) return `story ${broken.number}, invariant ${broken.rule}: ${message}`;
      numbers = numbers.slice(numbers.indexOf(broken.number) + 1);
    }
    return undefined;
  });
}

/** Returns the first of the given stories in which the copy violates an invariant. */
async function firstBroken(copy, numbers) {
  const hunted = pathToFileURL(join(copy, 'testing/simulation/soak/playNumbered.ts')).href;
  const code = `
    import { playNumbered } from ${JSON.stringify(hunted)};
    for await (const { number, violation } of playNumbered(${JSON.stringify(numbers)})) {
      if (violation === undefined) continue;
      console.log(JSON.stringify({ number, rule: violation.number, message: violation.message }));
      break;
    }`;
  // Cache compiled code, because only the file with the bug changes.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(copy, '.compiled') };
  const args = ['--max-semi-space-size=32', '--input-type=module', '-e', code];
  const child = spawnInCopy(copy, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  const exitCode = await exitOf(child);
  if (exitCode !== 0) throw new Error(`the faulty node does not run in ${root}: ${exitCode}`);
  return said === '' ? undefined : JSON.parse(said);
}
