/**
 * A process of its own: tells drawn stories while nothing of the host can be reached. The first is also
 * played again. Prints for each the digest of all that happened, and what was reached for.
 */
// It keeps its turn of the event loop, which is how a simulation lets everything happen that is ready.
import '../../../testing/simulation/run/schedule.ts';
import { closeHost } from '../../support/closedHost.ts';

// What it loads may keep what it finds: it is to find what can be closed.
const { randomStory } = await import('../../../testing/simulation/stories/random/randomStory.ts');
const { play } = await import('../../../testing/simulation/stories/play.ts');

const results: object[] = [];
for (const [index, seed] of process.argv.slice(2).map(Number).entries()) {
  const story = randomStory(seed, { pods: 4, actions: 20, faults: 12, lastsMs: 900_000 });
  const open = closeHost();
  const { simulation, steps } = await play(story, { invariants: [], traces: true, replays: index === 0 });
  results.push({ seed, digest: simulation.digest(), steps, reached: open() });
}
process.stdout.write(JSON.stringify(results));
