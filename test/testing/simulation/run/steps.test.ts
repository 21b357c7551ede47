import { expect, test } from '@jest/globals';
import { assign, createActor, setup } from 'xstate';
import { Steps } from '../../../../testing/simulation/run/steps.ts';

/** Returns an actor that accepts numbers above 0, and the counter of its steps. */
function actorWithSteps() {
  const steps = new Steps();
  const machine = setup({
    types: { context: {} as { sum: number }, events: {} as { type: 'add'; add: number } },
  }).createMachine({
    context: { sum: 0 },
    on: {
      add: {
        guard: ({ event }) => event.add > 0,
        actions: assign({ sum: ({ context, event }) => context.sum + event.add }),
      },
    },
  });
  const actor = createActor(machine, {
    inspect: (event) => void (event.type === '@xstate.snapshot' && steps.noteEvent(event)),
  }).start();
  const enter = (add: number) => {
    steps.noteEntry();
    queueMicrotask(() => actor.send({ type: 'add', add }));
  };
  const nextTask = () => new Promise((resolve) => setImmediate(resolve));
  return { steps, actor, enter, nextTask };
}

test('each input that changes a snapshot is a step, even if several arrive at the same time', async () => {
  const { steps, enter, nextTask } = actorWithSteps();
  enter(1);
  enter(2);
  enter(3);
  await nextTask();
  expect(steps.count).toBe(3);
});

test('an input that changes no snapshot is not a step, and one that changes several is one step', async () => {
  const { steps, actor, enter, nextTask } = actorWithSteps();
  enter(0);
  await nextTask();
  expect(steps.count).toBe(0);
  enter(1);
  await nextTask();
  actor.send({ type: 'add', add: 1 });
  expect(steps.count).toBe(1);
});
