/** Tells drawn stories to simulated nodes for as long as it is asked to, and stops at the first that breaks an invariant. */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { printable } from '../pod/show/printable.ts';
import { invariants } from './invariants/all.ts';
import { Random } from './random.ts';
import { drawnStory, type StorySize } from './stories/drawnStory.ts';
import { foundText, whatItBreaks } from './stories/found.ts';
import { play } from './stories/play.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } },
});
const until = performance.now() + Number(values.minutes) * 60_000;
const first = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);

/** From a few pods under many faults to a node of thirty. */
const SIZES: readonly StorySize[] = [
  { pods: 2, deeds: 10, faults: 6, lastsMs: 120_000 },
  { pods: 5, deeds: 25, faults: 15, lastsMs: 300_000 },
  { pods: 30, deeds: 120, faults: 40, lastsMs: 1_800_000 },
];

let [stories, steps, told] = [0, 0, performance.now()];
const began = performance.now();
const progress = () => {
  const seconds = (performance.now() - began) / 1_000;
  console.log(
    `${stories} stories, ${steps} steps, ${Math.round(steps / seconds)} a second; ${process.exitCode ? 'an invariant was broken' : 'no violation'}`,
  );
};
console.log(`seeds from ${first}`);
for (let seed = first; performance.now() < until; seed += 1) {
  const story = drawnStory(seed, new Random(seed).pick(SIZES));
  const outcome = await play(story, { invariants });
  stories += 1;
  steps += outcome.steps;
  if (outcome.violation !== undefined) {
    const found = await whatItBreaks(story, invariants);
    if (found !== undefined) {
      console.log(printable(foundText(found)));
      await writeFile(`soak-${seed}.json`, `${JSON.stringify(found)}\n`);
    }
    process.exitCode = 1;
    break;
  }
  if (performance.now() - told > 10_000) {
    told = performance.now();
    progress();
  }
}
progress();
