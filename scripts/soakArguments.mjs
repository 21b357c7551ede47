/** Parses the arguments of `npm run soak`. */
import { parseArgs } from 'node:util';

const USAGE = `Runs stories on simulated nodes, and checks the invariants of a node.

usage: npm run soak -- [--minutes 1] [--seed N]      random stories, starting with this seed
       npm run soak -- --cluster [--minutes 1] [--seed N]
                                                     random stories on nodes of a cluster and its API server
       npm run soak -- --each [--part 0/2]           the short stories with every fault and action, or a part of them
       npm run soak -- --pairs [--part 0/2] [--seed N]
                                                     the short stories with faults at two of their calls
       npm run soak -- --faulty [NAME ...]           checks that stories find these bugs of test/mutations/simulated.ts, or all
       npm run soak -- --coverage [--stories 300]    writes docs/simulation-coverage.md

The exit code is 0 if all invariants hold, 1 if one is violated, and 2 if the arguments are invalid. A failing story is
written to soak-SEED.json.`;

const DEFAULTS = { minutes: '1', part: '0/1', stories: '300' };

/** The options of each mode. */
const OPTIONS_BY_MODE = {
  random: ['minutes', 'seed'],
  cluster: ['minutes', 'seed'],
  each: ['part'],
  pairs: ['part', 'seed'],
  faulty: [],
  coverage: ['stories'],
};

/** Parses the arguments. `faults` are the names of seeded bugs. Prints errors and exits with 2. */
export function readArguments(faults) {
  try {
    const flag = { type: 'boolean', default: false };
    const value = { type: 'string' };
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        minutes: value,
        seed: value,
        part: value,
        stories: value,
        cluster: flag,
        each: flag,
        pairs: flag,
        faulty: flag,
        coverage: flag,
        help: { ...flag, short: 'h' },
      },
    });
    if (!values.help) return validate(values, positionals, faults);
  } catch (error) {
    console.error(`soak: ${error.message}`);
    process.exit(2);
  }
  console.log(USAGE);
  process.exit(0);
}

function validate({ minutes, seed, part, stories, help: _, ...modes }, positionals, faults) {
  const given = { minutes, seed, part, stories };
  checkMode(given, modes);
  const strange = positionals.find((name) => !modes.faulty || !faults.includes(name));
  if (strange !== undefined) throw new Error(modes.faulty ? `no fault is called ${strange}` : `what is ${strange}?`);
  const known = { ...DEFAULTS, ...definedOf(given) };
  const [, number, of] = /^(\d+)\/(\d+)$/.exec(known.part) ?? [];
  if (!(Number(number) < Number(of))) throw new Error(`--part ${known.part}: the first half is 0/2, the second 1/2`);
  const values = {
    minutes: numberOf('minutes', known.minutes, /^\d+(\.\d+)?$/),
    stories: numberOf('stories', known.stories, /^[1-9]\d*$/),
    ...(seed === undefined ? {} : { seed: numberOf('seed', seed, /^\d+$/) }),
    part: Number(number),
    of: Number(of),
  };
  if (values.seed >= 2 ** 32) throw new Error(`--seed ${seed}: at most ${2 ** 32 - 1}`);
  return { values: { ...values, ...modes }, positionals };
}

/** Rejects options without an effect in the selected mode. */
function checkMode(given, modes) {
  const chosen = Object.keys(modes).filter((mode) => modes[mode]);
  if (chosen.length > 1) throw new Error(`--${chosen[0]} and --${chosen[1]} cannot be combined`);
  const [mode = 'random'] = chosen;
  const strange = Object.keys(definedOf(given)).find((name) => !OPTIONS_BY_MODE[mode].includes(name));
  if (strange === undefined) return;
  const fitting = Object.keys(OPTIONS_BY_MODE).filter((each) => OPTIONS_BY_MODE[each].includes(strange));
  const named = fitting.map((each) => (each === 'random' ? 'random stories' : `--${each}`));
  throw new Error(`--${strange} is for ${new Intl.ListFormat('en-GB').format(named)}`);
}

const definedOf = (given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

function numberOf(option, text, pattern) {
  if (!pattern.test(text)) throw new Error(`--${option} ${text}: expected a number`);
  return Number(text);
}
