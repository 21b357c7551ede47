import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';

const onExit42: Partial<Container> = {
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
};
const pod = aPod({
  restartPolicy: 'Never',
  initContainers: [aContainer({ name: 'setup' })],
  containers: [aContainer({ name: 'main' }), aContainer({ name: 'watcher', ...onExit42 })],
});
const NAMES = ['setup', 'main', 'watcher'];
type World = ReturnType<typeof podStory>['world'];

/**
 * Adds a first sandbox in which all containers have exited. The exit of `watcher`, the last one, restarts all of them.
 * Its exit code is unknown if undefined.
 */
function exitAll(world: World, watcher?: number): void {
  world.sandbox(pod);
  for (const name of NAMES) world.run(pod, name, { id: `${name}-0-0` });
  for (const name of ['setup', 'main']) world.end(`${name}-0-0`, 0);
  if (watcher === undefined) world.change('watcher-0-0', { state: 'exited' });
  else world.end('watcher-0-0', watcher);
}
/** Replaces the sandbox by the next one, in which the first container runs again. */
function restartFirst(world: World): void {
  world.loseSandbox('sandbox-uid-1-0');
  world.sandbox(pod, 1);
  world.run(pod, 'setup', { id: 'setup-1-1', sandboxId: 'sandbox-uid-1-1', attempt: 1 });
}
const createCalls = ({ ports }: ReturnType<typeof podStory>) =>
  ports.asked('createContainer').map(({ container, attempt }) => `${container} ${attempt}`);

describe('an exit that restarts all, found by a new agent', () => {
  test('C5: restarts all in the next sandbox once, including completed containers', () => {
    const story = podStory({
      pod,
      before: (world) => {
        exitAll(world, 42);
        world.loseSandbox('sandbox-uid-1-0');
      },
    });
    expect(createCalls(story)).toEqual(['setup 1']);
    story.die('setup-1-1', 0);
    expect(createCalls(story)).toEqual(['setup 1', 'main 1', 'watcher 1']);
    expect(story.ports.asked('stopContainer')).toEqual([]);
    expect(story.state()).toBe('active.running.steady');
  });

  test('C5: does not stop what has started since if the next sandbox exists already', () => {
    const story = podStory({
      pod,
      before: (world) => {
        exitAll(world, 42);
        restartFirst(world);
      },
    });
    story.die('setup-1-1', 0);
    expect(createCalls(story)).toEqual(['main 1', 'watcher 1']);
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('C5: does not stop it either if the exit code is known only after an inspection', () => {
    const story = podStory({
      pod,
      held: ['inspectContainer'],
      before: (world) => {
        exitAll(world);
        restartFirst(world);
      },
    });
    story.world.change('watcher-0-0', { exitCode: 42 });
    while (story.ports.pending('inspectContainer').length > 0) story.ports.answer('inspectContainer');
    story.die('setup-1-1', 0);
    while (story.ports.pending('inspectContainer').length > 0) story.ports.answer('inspectContainer');
    expect(createCalls(story)).toEqual(['watcher 1']);
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('C5: is not handled again in the present sandbox if containers were created since', () => {
    const story = podStory({
      pod,
      before: (world) => {
        exitAll(world, 42);
        world.run(pod, 'setup', { id: 'setup-0-1', attempt: 1, createdAt: Date.UTC(2100, 0) });
      },
    });
    story.die('setup-0-1', 0);
    expect(createCalls(story)).toEqual(['main 1', 'watcher 1']);
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('C5: stops what has been running since before it', () => {
    const story = podStory({
      pod,
      before: (world) => {
        world.sandbox(pod);
        for (const name of NAMES) world.run(pod, name, { id: `${name}-0-0` });
        world.end('setup-0-0', 0);
        world.end('watcher-0-0', 42);
      },
    });
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'main-0-0', graceSeconds: 0 }]);
    expect(createCalls(story)).toEqual(['setup 1']);
  });
});

test('C5: all containers restart in the next sandbox if the sandbox of the pod is lost', () => {
  const story = podStory({ pod });
  story.die('setup-0-0', 0);
  story.die('main-0-0', 0);
  story.world.end('watcher-0-0', 42);
  story.world.loseSandbox('sandbox-uid-1-0');
  story.observe();
  story.die('setup-1-1', 0);
  expect(createCalls(story)).toEqual(['setup 0', 'main 0', 'watcher 0', 'setup 1', 'main 1', 'watcher 1']);
  expect(story.ports.asked('stopContainer')).toEqual([]);
});

test('C5: all containers restart if running ones have to stop first because the sandbox is unusable', () => {
  const beside = { ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, aContainer({ name: 'once' })] } };
  const story = podStory({
    pod: beside,
    before: (world) => {
      world.sandbox(beside);
      for (const name of [...NAMES, 'once']) world.run(beside, name, { id: `${name}-0-0` });
      for (const name of ['setup', 'once']) world.end(`${name}-0-0`, 0);
      world.end('watcher-0-0', 42);
      const [id = '', sandbox] = [...world.sandboxes][0] ?? [];
      if (sandbox) world.sandboxes.set(id, { ...sandbox, state: 'notReady' });
    },
  });
  story.die('setup-1-1', 0);
  expect(createCalls(story)).toEqual(['setup 1', 'main 1', 'watcher 1', 'once 1']);
});
