import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ContainerState, PodSandboxState } from '../../../cri/generated/runtime.ts';
import { seededRandom } from '../../../cri/simulated/objects/ids.ts';
import { noAbort, type Simulation, simulate } from './support.ts';

const PODS = ['a', 'b'];
const NAMES = ['main', 'side'];

/** The IDs that calls returned. A random call picks one by number, which may already have been removed. */
interface Known {
  readonly simulation: Simulation;
  readonly sandboxes: { readonly id: string; readonly pod: string }[];
  readonly containers: string[];
}

type Step = (known: Known) => Promise<void>;

/** Returns the object that a number selects; `none` if there are none. */
function pick<T>(from: readonly T[], index: number, none: T): T {
  return from[index % Math.max(1, from.length)] ?? none;
}

const nobody = { id: 'nobody', pod: 'a' };

const runSandbox = fc.constantFrom(...PODS).map((pod): [string, Step] => [
  `run ${pod}`,
  async ({ simulation, sandboxes }) => {
    sandboxes.push({ id: await simulation.play.sandbox(pod), pod });
  },
]);

const createContainer = fc
  .record({ index: fc.nat(5), name: fc.constantFrom(...NAMES), attempt: fc.nat(1), forever: fc.boolean() })
  .map(({ index, name, attempt, forever }): [string, Step] => [
    `create ${name}/${attempt} in sandbox #${index}`,
    async ({ simulation, sandboxes, containers }) => {
      const { id, pod } = pick(sandboxes, index, nobody);
      containers.push(await simulation.play.container(id, pod, name, forever ? [] : ['sleep', '0.05'], attempt));
    },
  ]);

const onSandbox = fc
  .record({ index: fc.nat(5), act: fc.constantFrom('stopSandbox', 'removeSandbox') })
  .map(({ index, act }): [string, Step] => [
    `${act} #${index}`,
    ({ simulation, sandboxes }) => simulation.play[act](pick(sandboxes, index, nobody).id),
  ]);

const onContainer = fc
  .record({ index: fc.nat(9), act: fc.constantFrom('start', 'stop', 'removeContainer') })
  .map(({ index, act }): [string, Step] => [
    `${act} #${index}`,
    ({ simulation, containers }) => simulation.play[act](pick(containers, index, 'nobody'), 1),
  ]);

const byHand = fc
  .record({ index: fc.nat(5), act: fc.constantFrom('killSandbox', 'removeSandbox') })
  .map(({ index, act }): [string, Step] => [
    `by hand ${act} #${index}`,
    async ({ simulation, sandboxes }) => simulation.runtime[act](pick(sandboxes, index, nobody).id),
  ]);

const restart = fc
  .boolean()
  .map((keepContainers): [string, Step] => [
    `restart${keepContainers ? '' : ' after a reboot'}`,
    async ({ simulation }) => simulation.runtime.restart({ keepContainers }),
  ]);

const trouble = fc
  .constantFrom<[string, (simulation: Simulation) => void]>(
    ['restart after the store was lost', ({ runtime }) => runtime.restart({ forget: () => true })],
    ['restart after the store was found', ({ runtime }) => runtime.restart({ recall: true })],
    ['restart that leaves some unknown', ({ runtime }) => runtime.restart({ unknown: ({ id }) => id < '8' })],
    ['network fails', ({ runtime }) => runtime.network.fail()],
    ['network recovers', ({ runtime }) => runtime.network.recover()],
    ['lists are shuffled', ({ runtime }) => runtime.listResults.shuffle(seededRandom(1))],
    ['all is killed', ({ runtime }) => runtime.killCgroup('')],
    ['a start fails late', ({ runtime }) => addFault(runtime, 'startContainer')],
    ['a sandbox fails late', ({ runtime }) => addFault(runtime, 'runPodSandbox')],
    ['a stall', ({ runtime, clock }) => stallFor(runtime, clock, 500)],
  )
  .map(([name, act]): [string, Step] => [name, async ({ simulation }) => act(simulation)]);

function addFault({ faults }: Simulation['runtime'], call: 'startContainer' | 'runPodSandbox'): void {
  faults.add({ call, failsAfter: { message: 'the disk is full' } });
}

function stallFor(runtime: Simulation['runtime'], clock: Simulation['clock'], ms: number): void {
  runtime.stall();
  clock.setTimeout(() => runtime.resume(), ms);
}

const step = fc.oneof(
  { weight: 4, arbitrary: runSandbox },
  { weight: 6, arbitrary: createContainer },
  { weight: 6, arbitrary: onContainer },
  { weight: 3, arbitrary: onSandbox },
  { weight: 1, arbitrary: byHand },
  { weight: 1, arbitrary: restart },
  { weight: 2, arbitrary: trouble },
);

async function everything({ cri, clock }: Simulation) {
  const options = { signal: noAbort };
  const { items } = await clock.advanceUntilSettled(cri.listPodSandbox({ filter: undefined }, options));
  const { containers } = await clock.advanceUntilSettled(cri.listContainers({ filter: undefined }, options));
  const statuses = await clock.advanceUntilSettled(
    Promise.all(items.map(({ id }) => cri.podSandboxStatus({ podSandboxId: id, verbose: false }, options))),
  );
  return { items, containers, ips: statuses.flatMap(({ status }) => status?.network?.ip || []) };
}

/** Expects what is true of a runtime after any sequence of calls. */
async function expectOrder(simulation: Simulation): Promise<void> {
  const { items, containers, ips } = await everything(simulation);
  const unique = (names: readonly string[]) => expect(new Set(names).size).toBe(names.length);
  unique(items.map(({ metadata }) => `${metadata?.name}_${metadata?.attempt}`));
  unique(containers.map(({ labels, metadata }) => `${labels.pod}_${metadata?.name}_${metadata?.attempt}`));
  const strays = [...simulation.runtime.strays.sandboxes].flatMap(({ ip }) => ip ?? []);
  unique([...ips, ...strays]);
  const sandboxes = new Map(items.map(({ id, state }) => [id, state]));
  for (const { podSandboxId } of containers) expect(sandboxes.has(podSandboxId)).toBe(true);
}

test('after sequential calls names and addresses are unique, and every container has its sandbox', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const simulation = simulate();
      const known: Known = { simulation, sandboxes: [], containers: [] };
      for (const [, act] of steps) {
        await simulation.clock.advanceUntilSettled(act(known).catch(() => {}));
        await expectOrder(simulation);
      }
    }),
    { numRuns: 60 },
  );
});

test('after concurrent calls with real latencies names and addresses are unique, and every container has its sandbox', async () => {
  const timed = fc.tuple(fc.nat(120), step);
  await fc.assert(
    fc.asyncProperty(fc.array(timed, { maxLength: 30 }), async (steps) => {
      const simulation = simulate({ latency: {} });
      const known: Known = { simulation, sandboxes: [], containers: [] };
      const calls: Promise<void>[] = [];
      for (const [afterMs, [, act]] of steps) {
        await simulation.clock.advance(afterMs);
        calls.push(act(known).catch(() => {}));
      }
      await simulation.clock.advanceUntilSettled(Promise.all(calls));
      await expectOrder(simulation);
    }),
    { numRuns: 60 },
  );
});

test('after any calls everything can be stopped twice and removed twice, and then nothing is left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const simulation = simulate();
      const { clock, play, runtime } = simulation;
      const known: Known = { simulation, sandboxes: [], containers: [] };
      for (const [, act] of steps) await clock.advanceUntilSettled(act(known).catch(() => {}));
      runtime.network.recover();
      const left = Array.from(runtime.sandboxes(), ({ id }) => id);
      for (const id of left) {
        await clock.advanceUntilSettled(play.stopSandbox(id));
        await clock.advanceUntilSettled(play.stopSandbox(id));
      }
      const { items, containers } = await everything(simulation);
      expect(items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY)).toEqual([]);
      expect(containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)).toEqual([]);
      for (const id of [...left, ...left]) await clock.advanceUntilSettled(play.removeSandbox(id));
      expect(await everything(simulation)).toEqual({ items: [], containers: [], ips: [] });
      await clock.advance(1000);
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 60 },
  );
});
