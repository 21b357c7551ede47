/** Counts the work of the functions in loops.ts at several sizes, and prints it as JSON. */
import { WorkCounter } from '../../../../testing/simulation/work/workCounter.ts';

const counter = await WorkCounter.start((url) => url.endsWith('/loops.ts'));
const { linear, quadratic } = await import('./loops.ts');

async function workOf(act: () => unknown) {
  await counter.take();
  act();
  return [...(await counter.take()).values()].map(({ location, count }) => ({ location, count }));
}

process.stdout.write(
  JSON.stringify({
    linear: [await workOf(() => linear(100)), await workOf(() => linear(100)), await workOf(() => linear(400))],
    quadratic: [await workOf(() => quadratic(10)), await workOf(() => quadratic(40))],
  }),
);
