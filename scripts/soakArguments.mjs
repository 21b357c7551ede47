/** What `npm run soak` is asked for. */
import { parseArgs } from 'node:util';

const USAGE = `Tells simulated nodes stories, and looks whether what has to hold of a node does.

usage: npm run soak -- [--minutes 1] [--seed N]      drawn stories, from this seed on
       npm run soak -- --cluster [--minutes 1] [--seed N]
                                                     drawn stories of nodes of a cluster, and of its API server
       npm run soak -- --each [--part 0/2]           the short stories with every fault and deed, or a part of them
       npm run soak -- --pairs [--part 0/2] [--seed N]
                                                     the short stories with faults at two of their calls
       npm run soak -- --faulty [NAME ...]           whether these faults of test/mutations/simulated.ts are found, or all
       npm run soak -- --coverage [--stories 300]    writes docs/simulation-coverage.md

It ends with 0 where everything has held, with 1 where something has not, and with 2 where it is asked for what it cannot
do. What it finds is kept in soak-SEED.json.`;

const DEFAULTS = { minutes: '1', part: '0/1', stories: '300' };

/** What else can be asked for, by what is to be done; `drawn`: nothing else. */
const FITTING = {
  drawn: ['minutes', 'seed'],
  cluster: ['minutes', 'seed'],
  each: ['part'],
  pairs: ['part', 'seed'],
  faulty: [],
  coverage: ['stories'],
};

/** What is to be done, where these names are those of faults; says what is wrong with it, and ends with 2. */
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
    if (!values.help) return checked(values, positionals, faults);
  } catch (error) {
    console.error(`soak: ${error.message}`);
    process.exit(2);
  }
  console.log(USAGE);
  process.exit(0);
}

function checked({ minutes, seed, part, stories, help: _, ...modes }, positionals, faults) {
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

/** What has no effect would not be missed by whoever asks for it. */
function checkMode(given, modes) {
  const chosen = Object.keys(modes).filter((mode) => modes[mode]);
  if (chosen.length > 1) throw new Error(`--${chosen[0]} and --${chosen[1]} do not go together`);
  const [mode = 'drawn'] = chosen;
  const strange = Object.keys(definedOf(given)).find((name) => !FITTING[mode].includes(name));
  if (strange === undefined) return;
  const fitting = Object.keys(FITTING).filter((each) => FITTING[each].includes(strange));
  const named = fitting.map((each) => (each === 'drawn' ? 'drawn stories' : `--${each}`));
  throw new Error(`--${strange} is for ${new Intl.ListFormat('en-GB').format(named)}`);
}

const definedOf = (given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

function numberOf(option, text, pattern) {
  if (!pattern.test(text)) throw new Error(`--${option} ${text}: expected a number`);
  return Number(text);
}
