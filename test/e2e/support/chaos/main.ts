/** `npm run chaos -- [--minutes 10] [--seed 7] [--seconds 20]`: runs one seed after the other until one fails. */
import { parseArgs } from 'node:util';
import { checkSeed, nextSeed } from '../../../../testing/simulation/random.ts';
import { chaos } from './chaos.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.trunc(Date.now() % 2 ** 32)) },
  },
});
checkSeed(Number(values.seed));
const until = performance.now() + Number(values.minutes) * 60_000;
for (let seed = Number(values.seed); performance.now() < until; seed = nextSeed(seed)) {
  const began = performance.now();
  const calm = await chaos(seed, Number(values.seconds) * 1_000);
  const [after, all] = [calm, performance.now() - began].map((ms) => (ms / 1_000).toFixed(1));
  console.log(`seed ${seed}: all held ${after} s after the calm, in ${all} s`);
}
