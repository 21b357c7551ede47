/** Prints the number of milliseconds that the layout of 5,000 lines takes. It runs in its own process, because test processes are slower. */
import { storyLanes } from '../../../web/model/story/lanes/storyLanes.ts';
import { positionBars } from '../../../web/model/story/lanes/storyPixels.ts';
import { storySteps } from '../../../web/model/story/rows/storySteps.ts';
import { API, BEGAN, burst, crashLoop, NOW } from './crashLoop.ts';

const loop = crashLoop();
const lines = [...loop.lines, ...burst(5_000 - loop.lines.length, BEGAN + 1_000)].sort(
  (one, other) => one.at - other.at,
);
const story = { ...loop, lines };
const steps = storySteps(story);

function tookMs(): number {
  const began = performance.now();
  for (const { bars } of storyLanes({ story, steps, now: NOW, selectedPath: API }))
    positionBars(bars, { from: BEGAN, to: NOW, left: 140, right: 716 });
  return performance.now() - began;
}

// Use the fastest of several runs, because the machine may be busy.
const end = performance.now() + 3_000;
let fastest = Number.POSITIVE_INFINITY;
for (let time = 0; time < 50 || (fastest >= 5 && performance.now() < end); time += 1)
  fastest = Math.min(fastest, tookMs());
process.stdout.write(`${fastest}`);
