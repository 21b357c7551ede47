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

const DEFAULT_VALUES = { minutes: '1', part: '0/1', stories: '300' };

/** Options that have an effect, by mode. Any other option is rejected. */
const OPTIONS_BY_MODE = {
  random: ['minutes', 'seed'],
  cluster: ['minutes', 'seed'],
  each: ['part'],
  pairs: ['part', 'seed'],
  faulty: [],
  coverage: ['stories'],
};

/**
 * Parses the arguments. `faults` are the names of seeded bugs. If the arguments are invalid, prints the errors and
 * exits with code 2.
 */
export function readArguments(faults) {
  try {
    const flagOption = { type: 'boolean', default: false };
    const valueOption = { type: 'string' };
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        minutes: valueOption,
        seed: valueOption,
        part: valueOption,
        stories: valueOption,
        cluster: flagOption,
        each: flagOption,
        pairs: flagOption,
        faulty: flagOption,
        coverage: flagOption,
        help: { ...flagOption, short: 'h' },
      },
    });
    if (!values.help) return validateArguments(values, positionals, faults);
  } catch (error) {
    console.error(`soak: ${error.message}`);
    process.exit(2);
  }
  console.log(USAGE);
  process.exit(0);
}

function validateArguments({ minutes, seed, part, stories, help: _, ...modes }, positionals, faults) {
  const givenValues = { minutes, seed, part, stories };
  checkMode(givenValues, modes);
  const unknownName = positionals.find((name) => !modes.faulty || !faults.includes(name));
  if (unknownName !== undefined)
    throw new Error(modes.faulty ? `no fault is called ${unknownName}` : `what is ${unknownName}?`);
  const valuesWithDefaults = { ...DEFAULT_VALUES, ...withoutUndefined(givenValues) };
  const [, number, of] = /^(\d+)\/(\d+)$/.exec(valuesWithDefaults.part) ?? [];
  if (!(Number(number) < Number(of)))
    throw new Error(`--part ${valuesWithDefaults.part}: the first half is 0/2, the second 1/2`);
  const parsedValues = {
    minutes: parseNumber('minutes', valuesWithDefaults.minutes, /^\d+(\.\d+)?$/),
    stories: parseNumber('stories', valuesWithDefaults.stories, /^[1-9]\d*$/),
    ...(seed === undefined ? {} : { seed: parseNumber('seed', seed, /^\d+$/) }),
    part: Number(number),
    of: Number(of),
  };
  if (parsedValues.seed >= 2 ** 32) throw new Error(`--seed ${seed}: at most ${2 ** 32 - 1}`);
  return { values: { ...parsedValues, ...modes }, positionals };
}

/** Rejects options without an effect in the selected mode. */
function checkMode(givenValues, modes) {
  const chosenModes = Object.keys(modes).filter((mode) => modes[mode]);
  if (chosenModes.length > 1) throw new Error(`--${chosenModes[0]} and --${chosenModes[1]} cannot be combined`);
  const [mode = 'random'] = chosenModes;
  const unsupportedOption = Object.keys(withoutUndefined(givenValues)).find(
    (name) => !OPTIONS_BY_MODE[mode].includes(name),
  );
  if (unsupportedOption === undefined) return;
  const supportingModes = Object.keys(OPTIONS_BY_MODE).filter((each) =>
    OPTIONS_BY_MODE[each].includes(unsupportedOption),
  );
  const modeNames = supportingModes.map((each) => (each === 'random' ? 'random stories' : `--${each}`));
  throw new Error(`--${unsupportedOption} is for ${new Intl.ListFormat('en-GB').format(modeNames)}`);
}

const withoutUndefined = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

function parseNumber(option, text, pattern) {
  if (!pattern.test(text)) throw new Error(`--${option} ${text}: expected a number`);
  return Number(text);
}
