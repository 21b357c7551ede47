/** Runs a simulated node of thirty pods in its own process. Prints the cost of its steps and of an idle hour. */
import { invariants } from '../../testing/simulation/invariants/invariants.ts';
import { Random } from '../../testing/simulation/random.ts';
import { type Simulation, simulateNode } from '../../testing/simulation/simulateNode.ts';
import { manifest, staticPodName } from '../../testing/simulation/stories/manifests.ts';
import { randomManifest } from '../../testing/simulation/stories/random/randomManifest.ts';
import type { Action, Story } from '../../testing/simulation/stories/story.ts';

const PODS = 30;
const MINUTE = 60_000;
const WINDOWS = 10;
const DEED_EVERY_MS = 5_000;
const IDLE_MS = 60 * MINUTE;
/** Simulated time before the measurement, in which hot code is compiled. */
const WARM_UP_MS = 3 * MINUTE;

const [, , minutes = ''] = process.argv;

/** Returns a story in which many kinds of pods come and go and containers exit, without faults. */
function busyStory(lastsMs: number): Story {
  const random = new Random(1);
  const pods = Array.from({ length: PODS }, (_, index) => randomManifest(`pod-${index}`, random));
  const drawn = (): Action => {
    const pod = random.pick(pods);
    const exit = { kind: 'exit', which: random.between(0, PODS), exitCode: random.pick([0, 1, 137]) } as const;
    return random.pick([exit, exit, { kind: 'apply', pod }, { kind: 'remove', pod: staticPodName(pod) }]);
  };
  const later = Array.from({ length: lastsMs / DEED_EVERY_MS }, (_, index) => ({
    at: index * DEED_EVERY_MS,
    action: drawn(),
  }));
  const actions = [...pods.map((pod) => ({ at: 0, action: { kind: 'apply', pod } as const })), ...later];
  return { seed: 1, actions, faults: [], lastsMs };
}

/** Returns the CPU time of this process, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Performs the actions in a part of the story. */
async function tell(node: Simulation, { actions }: Story, from: number, until: number): Promise<void> {
  for (const { at, action } of actions.filter((each) => each.at >= from && each.at < until)) {
    await node.advance(Math.max(0, at - node.elapsed));
    node.perform(action);
  }
  await node.advance(until - node.elapsed);
}

/** Returns the steps and their cost in each tenth of a run with all invariants. */
async function windowsOf(story: Story): Promise<{ readonly steps: number; readonly ms: number }[]> {
  const node = await simulateNode({ seed: story.seed, invariants });
  const windows: { readonly steps: number; readonly ms: number }[] = [];
  for (let window = 0; window < WINDOWS; window += 1) {
    const before = { steps: node.steps, ms: cpuMs() };
    await tell(node, story, (window * story.lastsMs) / WINDOWS, ((window + 1) * story.lastsMs) / WINDOWS);
    windows.push({ steps: node.steps - before.steps, ms: cpuMs() - before.ms });
  }
  node.check();
  node.kill();
  return windows;
}

/** Returns the CPU time of an hour in which the pods only run. */
async function idleMs(): Promise<number> {
  const node = await simulateNode({ seed: 1, invariants });
  for (let index = 0; index < PODS; index += 1) node.apply(manifest(`idle-${index}`));
  await node.advance(MINUTE);
  const before = cpuMs();
  await node.advance(IDLE_MS);
  node.kill();
  return cpuMs() - before;
}

await windowsOf(busyStory(WARM_UP_MS));
const windows = await windowsOf(busyStory(Number(minutes) * MINUTE));
process.stdout.write(JSON.stringify({ windows, idleMs: await idleMs() }));
