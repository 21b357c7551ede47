/**
 * Tells simulated nodes stories that are drawn: `npm run soak -- --minutes 10 [--seed 7]`; with `--cluster` those of nodes
 * of a cluster. With `--each` it tells the
 * short stories with every fault at each of their calls and every deed at each moment of these, with `--pairs` with a
 * fault at each of every pair of calls, until all are told; `--part 0/2` tells the first half. With `--faulty [NAME …]` it
 * puts the faults of test/mutations/simulated.ts into copies of the package instead, and looks whether a simulation of
 * each finds it: with a story that breaks nothing as the node is. With `--coverage [--stories 300]` it writes
 * docs/simulation-coverage.md, and ends with 1 where a transition was not taken that no reason is given for, or one was
 * taken that has a reason.
 */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seededFaults } from '../test/mutations/simulated.ts';
import { copyOfPackage, exitOf, misfitsOf, spawnInCopy, whileMutated } from './mutate.mjs';
import { root } from './setup/places.mjs';
import { readArguments } from './soakArguments.mjs';

/** So many stories are told at most for one fault. */
const STORIES = 150;

const { values, positionals } = readArguments(seededFaults.map(({ name }) => name));

/** Aborted by the first signal, with its name. */
const asked = new AbortController();

process.exitCode = await done().catch((error) => {
  // What the host refuses is said in one line; all else is a fault of ours.
  if (error.syscall === undefined) throw error;
  console.error(`soak: ${error.message}`);
  return 1;
});

/** Does what is asked for, and gives the exit code. */
async function done() {
  if (values.coverage) return writeCoverage(values.stories);
  if (values.faulty) return showFaults(positionals);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => asked.abort(name));
  // Whoever has read may have gone: what is found is kept all the same.
  process.stdout.on('error', () => {});
  const hasHeld = await tellStories();
  // Whatever is under way is given up.
  return process.exit(asked.signal.aborted ? 128 + constants.signals[asked.signal.reason] : hasHeld ? 0 : 1);
}

/** Whether all invariants held. */
async function tellStories() {
  const { minutes, seed, part, of, cluster, each, pairs } = values;
  const known = { ...(seed === undefined ? {} : { seed }), signal: asked.signal };
  const drawn = { ...known, minutes, inCluster: cluster };
  if (!each && !pairs) return (await import('../testing/simulation/soak/soak.ts')).soak(drawn);
  const { soakFaults } = await import('../testing/simulation/soak/soakFaults.ts');
  return soakFaults({ ...known, faults: each ? 'each' : 'pairs', part, of });
}

/** Writes the page that says what of the machines simulations reach. The exit code: 0 where there is a reason for the rest. */
async function writeCoverage(stories) {
  const page = join(root, 'docs/simulation-coverage.md');
  // It takes minutes, and would be for nothing.
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

/** The exit code: 0 when each of these faults, or all, was found. */
async function showFaults(names) {
  const wanted = seededFaults.filter(({ name }) => names.length === 0 || names.includes(name));
  const misfits = misfitsOf(wanted);
  if (misfits.length > 0) {
    console.error(misfits.join('\n'));
    return 1;
  }
  const copy = copyOfPackage();
  const sound = await soundStories();
  let missed = 0;
  for (const fault of wanted) {
    const began = performance.now();
    const found = await findIn(copy, fault, sound);
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    missed += found === undefined ? 1 : 0;
    console.log(
      `${fault.name}\t${found ? `found in ${seconds} s, ${found}` : `NOT FOUND in ${seconds} s`}\t${fault.breaks}`,
    );
  }
  console.log(`${wanted.length - missed} of ${wanted.length} faults found`);
  return missed === 0 && wanted.length > 0 ? 0 : 1;
}

/** Gives the stories one after the other that the node as it is keeps to, each tried once. */
async function soundStories() {
  const { playNumbered } = await import('../testing/simulation/soak/playNumbered.ts');
  const known = new Map();
  return async (number) => {
    if (!known.has(number))
      for await (const { violation } of playNumbered([number])) known.set(number, violation === undefined);
    return known.get(number);
  };
}

/** What a simulation of the node with this fault broke, in one line; undefined where it broke nothing that the node keeps. */
function findIn(copy, fault, isSound) {
  const others = Array.from({ length: STORIES }, (_, number) => number).filter((number) => number !== fault.story);
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

/** The first of the stories of these numbers that the copy breaks an invariant in. */
async function firstBroken(copy, numbers) {
  const hunted = pathToFileURL(join(copy, 'testing/simulation/soak/playNumbered.ts')).href;
  const code = `
    import { playNumbered } from ${JSON.stringify(hunted)};
    for await (const { number, violation } of playNumbered(${JSON.stringify(numbers)})) {
      if (violation === undefined) continue;
      console.log(JSON.stringify({ number, rule: violation.number, message: violation.message }));
      break;
    }`;
  // All but the file with the fault is compiled once.
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
