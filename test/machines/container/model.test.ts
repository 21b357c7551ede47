/**
 * Tests a container under any interleaving of commands from its pod, observations of the runtime, and results of calls.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { FailureReason } from '../../../base/failure.ts';
import { containerHash } from '../../../kubernetes/api/pods/containerHash.ts';
import type { PortName } from '../../../machines/shared/ports.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { type ContainerStory, containerStory } from '../support/containerStory.ts';
import { queueOf } from '../support/stand.ts';

const hook = { exec: { command: ['true'] } };
const podOf = (image: string) =>
  aPod({ containers: [aContainer({ image, lifecycle: { postStart: hook, preStop: hook } })] });
const PORTS: readonly PortName[] = [
  ...(['findImage', 'createContainer', 'startContainer', 'stopContainer'] as const),
  ...(['inspectContainer', 'runHook'] as const),
];

/** Desired state of the container, regardless of the container's actual state. */
interface Model {
  stopped: boolean;
  image: string;
  /** Attempt of the current sandbox. Undefined if there is none. */
  sandbox: number | undefined;
  sandboxes: number;
  hasTurn: boolean;
}

type Command = fc.Command<Model, ContainerStory>;

/** A kind of command. `of` binds it to the story of the current run. */
interface Kind {
  readonly name: string;
  readonly of: (story: () => ContainerStory) => Command;
}

function command(
  name: string,
  check: (model: Model, story: ContainerStory) => boolean,
  act: (model: Model, story: ContainerStory) => void,
): Kind {
  const of = (story: () => ContainerStory): Command => ({
    check: (model) => check(model, story()),
    run: (model, real) => {
      const before = createAndStartCalls(real);
      act(model, real);
      expectSound(model, real, before);
    },
    toString: () => name,
  });
  return { name, of };
}

const createAndStartCalls = ({ ports }: ContainerStory) =>
  ports.asked('createContainer').length + ports.asked('startContainer').length;
const processes = ({ world }: ContainerStory) =>
  [...world.containers.values()].filter(({ state }) => state === 'running');
const isQuiet = (story: ContainerStory) => !['launching', 'live', 'running'].includes(story.lifecycles().at(-1) ?? '');

/** Checks the invariants that hold after every step. */
function expectSound(model: Model, story: ContainerStory, callsBefore: number): void {
  expect(story.status()).toBe('active');
  expect(processes(story).length).toBeLessThanOrEqual(1);
  expect(queueOf(story.startLimiter).held).toHaveLength(
    story.state().startsWith('launching.creatingContainer') ? 1 : 0,
  );
  expect(queueOf(story.pullLimiter).held).toEqual([]);
  if (isQuiet(story)) expect(processes(story)).toEqual([]);
  if (model.stopped) expect(createAndStartCalls(story)).toBe(callsBefore);
}

const commands = [
  command(
    'turn',
    ({ stopped, hasTurn }) => !stopped && !hasTurn,
    (model, story) => {
      model.hasTurn = true;
      story.send({ type: 'container.start' });
    },
  ),
  command(
    'sandbox',
    ({ stopped, sandbox }, story) => !stopped && sandbox === undefined && isQuiet(story),
    (model, story) => {
      model.sandbox = model.sandboxes++;
      story.send({ type: 'sandbox.ready', sandbox: story.world.sandbox(podOf(model.image), model.sandbox) });
    },
  ),
  command(
    'sandbox lost',
    ({ sandbox }) => sandbox !== undefined,
    (model, story) => {
      story.world.loseSandbox(`sandbox-uid-1-${model.sandbox}`);
      model.sandbox = undefined;
      model.hasTurn = false;
      story.send({ type: 'sandbox.lost' });
    },
  ),
  command(
    'new image',
    ({ stopped }) => !stopped,
    (model, story) => {
      model.image = model.image === 'a:1' ? 'a:2' : 'a:1';
      story.send({ type: 'container.update', pod: podOf(model.image), volumes: {} });
    },
  ),
  command(
    'stop',
    () => true,
    (model, story) => {
      model.stopped = true;
      story.stop(30);
    },
  ),
  command(
    'sooner stop',
    ({ stopped }) => stopped,
    (_, story) => story.stop(1),
  ),
  command(
    'death',
    (_, story) => processes(story).length > 0,
    (_, story) => {
      for (const { id } of processes(story)) story.world.end(id, 1);
    },
  ),
  command(
    'list',
    () => true,
    (_, story) => {
      for (const id of story.world.containers.keys()) story.observe(id);
    },
  ),
  command(
    'older list',
    () => true,
    (_, story) => {
      const { id } = story.context();
      if (id !== undefined) story.send({ type: 'runtime.containerObserved', id, container: null });
    },
  ),
  command(
    'runtime returned',
    () => true,
    (_, story) => story.send({ type: 'runtime.returned' }),
  ),
  command(
    'time',
    (_, { ports }) => ports.untilNext !== undefined,
    (_, { ports }) => ports.advance(ports.untilNext ?? 0),
  ),
  ...(['answer', 'perform', 'lose', 'refuse', 'away'] as const).map((how) =>
    command(
      how,
      (_, { ports }) => ports.pending().length > 0,
      (_, story) => end(story, how),
    ),
  ),
];

/** Commands that are generated more often than others. */
const OFTEN = commands
  .filter(({ name }) => name === 'answer')
  .flatMap((make) => Array.from({ length: 10 }, () => make));

function end(story: ContainerStory, how: 'answer' | 'perform' | 'lose' | 'refuse' | 'away'): void {
  const { ports } = story;
  const [oldest] = ports.pending();
  if (oldest === undefined) return;
  // The runtime does not fail a call that it has already carried out.
  const isDone = ports.isPerformed(oldest) || (oldest === 'startContainer' && processes(story).length > 0);
  if (how === 'perform') ports.perform(oldest);
  else if (how === 'lose') ports.lose(oldest);
  else if (how === 'away') ports.fail(oldest, 'RuntimeUnavailable');
  else if (how === 'refuse' && !isDone) ports.fail(oldest, REFUSALS[oldest] ?? 'RuntimeError');
  else ports.answer(oldest);
}

const REFUSALS: Partial<Record<PortName, FailureReason>> = {
  createContainer: 'CreateContainerError',
  startContainer: 'RunContainerError',
};

/** Completes all calls and timers until nothing more happens. */
function settle(story: ContainerStory): void {
  const { ports, world } = story;
  for (let steps = 0; steps < 200; steps++) {
    if (ports.pending().length > 0) end(story, 'answer');
    else if (ports.untilNext !== undefined) ports.advance(ports.untilNext);
    else {
      const before = story.state();
      for (const id of world.containers.keys()) story.observe(id);
      if (story.state() === before && ports.pending().length === 0) return;
    }
  }
  throw new Error(`it does not come to rest: ${story.state()}`);
}

function expectAtRest(model: Model, story: ContainerStory): void {
  const { state, context } = story;
  if (model.stopped) {
    expect(state()).toBe('stopped');
    expect(processes(story)).toEqual([]);
  } else if (model.hasTurn && model.sandbox !== undefined) {
    expect(state()).toBe('running.steady');
    expect(processes(story)).toMatchObject([
      { id: context().id, hash: containerHash({ name: 'main', image: model.image }), image: model.image },
    ]);
  } else expect(processes(story)).toEqual([]);
  expect(isQuiet(story)).toBe(processes(story).length === 0);
  expect(queueOf(story.startLimiter)).toEqual({ held: [], queue: [] });
}

test('a container runs at most one process in any order of events, none after its stop, and the right one in the end', () => {
  let story = containerStory();
  const arbitrary = fc.commands(
    [...commands, ...OFTEN].map((make) => fc.constant(make.of(() => story))),
    { maxCommands: 60, size: 'max' },
  );
  fc.assert(
    fc.property(arbitrary, (sequence) => {
      const model: Model = { stopped: false, image: 'a:1', sandbox: 0, sandboxes: 1, hasTurn: true };
      fc.modelRun(() => {
        story = containerStory({ pod: podOf('a:1') });
        story.ports.hold(...PORTS);
        story.begin();
        return { model, real: story };
      }, sequence);
      settle(story);
      expectAtRest(model, story);
    }),
    { numRuns: 500 },
  );
});
