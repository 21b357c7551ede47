/**
 * Runs as a separate process. Plays random stories while access to the host is blocked, and replays the first one.
 * Prints, for each story, the digest of its trace and the attempts to access the host.
 */
// This module must be loaded first: it saves the `setImmediate` of the real event loop, with which a simulation lets
// pending callbacks run.
import '../../../testing/simulation/run/schedule.ts';
import { closeHost } from '../../support/closedHost.ts';

// Import these modules after `closedHost`, because a module may save references to globals when it is loaded.
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
