/**
 * Runs as a separate process, because work is only counted in modules that are loaded after the counter has started.
 * Plays the story of each crowd, or only of the crowds that the arguments name, and prints the excessive growth of work
 * by crowd as JSON.
 */
import { WorkCounter } from '../../../../testing/simulation/work/workCounter.ts';

const counter = await WorkCounter.start();
const { crowds } = await import('../../../../testing/simulation/work/crowds.ts');
const { excessiveGrowth } = await import('../../../../testing/simulation/work/growth.ts');
const names = process.argv.slice(2);
const excess: [string, string[]][] = [];
for (const crowd of crowds.filter(({ name }) => names.length === 0 || names.includes(name)))
  excess.push([crowd.name, await excessiveGrowth(crowd, counter)]);
process.stdout.write(JSON.stringify(Object.fromEntries(excess), null, 2));
