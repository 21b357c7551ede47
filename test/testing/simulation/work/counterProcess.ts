/** Counts the work of the functions in loops.ts at several sizes, and prints it as JSON. */
import { WorkCounter } from '../../../../testing/simulation/work/workCounter.ts';

const counter = await WorkCounter.start((url) => url.endsWith('/loops.ts'));
const { contains, linear, quadratic } = await import('./loops.ts');

async function workOf(act: () => unknown) {
  await counter.take();
  act();
  return [...(await counter.take()).values()].map(({ location, count }) => ({ location, count }));
}

/** Searches so often that V8 would optimize the search. */
function searchOften() {
  const items = Array.from({ length: 100 }, (_, index) => index);
  for (let index = 0; index < 10_000; index += 1) contains(items, -1);
}

process.stdout.write(
  JSON.stringify({
    linear: [await workOf(() => linear(100)), await workOf(() => linear(100)), await workOf(() => linear(400))],
    quadratic: [await workOf(() => quadratic(10)), await workOf(() => quadratic(40))],
    contains: [await workOf(searchOften), await workOf(searchOften), await workOf(searchOften)],
  }),
);
