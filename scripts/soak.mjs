/**
 * Tells simulated nodes stories that are drawn: `npm run soak -- --minutes 10 [--seed 7]`. With `--each` it tells the
 * short stories with every fault at each of their calls and every deed at each moment of these, with `--pairs` with a
 * fault at each of every pair of calls, until all are told; `--part 0/2` tells the first half. With `--faulty [NAME …]` it
 * puts the faults of test/mutations/simulated.ts into copies of the package instead, and looks whether a simulation of
 * each finds it: with a story that breaks nothing as the node is. With `--coverage [--stories 300]` it writes
 * docs/simulation-coverage.md, and ends with 1 where a transition was not taken that no reason is given for, or one was
 * taken that has a reason.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { seededFaults } from '../test/mutations/simulated.ts';
import { copyOfPackage, misfitsOf, whileMutated } from './mutate.mjs';
import { node24, root } from './setup/places.mjs';

/** So many stories are told at most for one fault. */
const STORIES = 150;

const { values, positionals } = given();

/** Aborted by the first signal, with its name. */
const asked = new AbortController();

if (values.coverage) process.exitCode = await writeCoverage(values.stories);
else if (values.faulty) process.exitCode = await showFaults(positionals);
else {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => asked.abort(name));
  // Whoever has read may have gone: what is found is kept all the same.
  process.stdout.on('error', () => {});
  const hasHeld = await tellStories();
  // Whatever is under way is given up.
  process.exit(asked.signal.aborted ? 128 + constants.signals[asked.signal.reason] : hasHeld ? 0 : 1);
}

/** What is to be done; says what is wrong with it, and ends with 2. */
function given() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        minutes: { type: 'string', default: '1' },
        seed: { type: 'string' },
        each: { type: 'boolean', default: false },
        pairs: { type: 'boolean', default: false },
        part: { type: 'string', default: '0/1' },
        faulty: { type: 'boolean', default: false },
        coverage: { type: 'boolean', default: false },
        stories: { type: 'string', default: '300' },
      },
    });
    return checked(values, positionals);
  } catch (error) {
    console.error(`soak: ${error.message}`);
    process.exit(2);
  }
}

function checked({ minutes, seed, part, stories, ...modes }, positionals) {
  const chosen = Object.keys(modes).filter((mode) => modes[mode]);
  if (chosen.length > 1) throw new Error(`--${chosen[0]} and --${chosen[1]} do not go together`);
  const known = seededFaults.map(({ name }) => name);
  const strange = positionals.find((name) => !modes.faulty || !known.includes(name));
  if (strange !== undefined) throw new Error(modes.faulty ? `no fault is called ${strange}` : `what is ${strange}?`);
  const [, number, of] = /^(\d+)\/(\d+)$/.exec(part) ?? [];
  if (!(Number(number) < Number(of))) throw new Error(`--part ${part}: the first half is 0/2, the second 1/2`);
  const values = {
    minutes: numberOf('minutes', minutes, /^\d+(\.\d+)?$/),
    stories: numberOf('stories', stories, /^[1-9]\d*$/),
    ...(seed === undefined ? {} : { seed: numberOf('seed', seed, /^\d+$/) }),
    ...{ part: Number(number), of: Number(of) },
  };
  if (values.seed >= 2 ** 32) throw new Error(`--seed ${seed}: at most ${2 ** 32 - 1}`);
  return { values: { ...values, ...modes }, positionals };
}

function numberOf(option, text, pattern) {
  if (!pattern.test(text)) throw new Error(`--${option} ${text}: expected a number`);
  return Number(text);
}

/** Whether all invariants held. */
async function tellStories() {
  const { minutes, seed, part, of, each, pairs } = values;
  const known = { ...(seed === undefined ? {} : { seed }), signal: asked.signal };
  if (!each && !pairs) return (await import('../simulation/soak.ts')).soak({ ...known, minutes });
  const { soakFaults } = await import('../simulation/soakFaults.ts');
  return soakFaults({ ...known, faults: each ? 'each' : 'pairs', part, of });
}

/** Writes the page that says what of the machines simulations reach. The exit code: 0 where there is a reason for the rest. */
async function writeCoverage(stories) {
  const { coverageOf, pageOf } = await import('../simulation/coverage/report.ts');
  const { misfitsOf: misfitsIn } = await import('../simulation/coverage/check.ts');
  const { machines } = await import('../machines/drawing/charts.ts');
  const reached = await coverageOf(stories);
  writeFileSync(join(root, 'docs/simulation-coverage.md'), pageOf(reached, machines, stories));
  const misfits = misfitsIn(reached.byAll, machines);
  for (const misfit of misfits) console.error(misfit);
  return misfits.length === 0 ? 0 : 1;
}

/** The exit code: 0 when each of these faults, or all, was found. */
async function showFaults(names) {
  const wanted = seededFaults.filter(({ name }) => names.length === 0 || names.includes(name));
  const misfits = misfitsOf(wanted);
  if (misfits.length > 0) throw new Error(misfits.join('\n'));
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
  const { hunt } = await import('../simulation/hunt.ts');
  const known = new Map();
  return async (number) => {
    if (!known.has(number))
      for await (const { violation } of hunt([number])) known.set(number, violation === undefined);
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
function firstBroken(copy, numbers) {
  const hunted = pathToFileURL(join(copy, 'simulation/hunt.ts')).href;
  const code = `
    import { hunt } from ${JSON.stringify(hunted)};
    for await (const { number, violation } of hunt(${JSON.stringify(numbers)})) {
      if (violation === undefined) continue;
      console.log(JSON.stringify({ number, rule: violation.number, message: violation.message }));
      break;
    }`;
  // All but the file with the fault is compiled once.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(copy, '.compiled') };
  const args = ['--max-semi-space-size=32', '--input-type=module', '-e', code];
  const child = spawn(node24, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (exitCode) => {
      if (exitCode === 0) resolve(said === '' ? undefined : JSON.parse(said));
      else reject(new Error(`the faulty node does not run in ${root}: ${exitCode}`));
    });
  });
}
