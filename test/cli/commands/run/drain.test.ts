import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { drainWithTimeout } from '../../../../cli/commands/run/drain.ts';
import { podView } from '../../../kubernetes/views.ts';

const podOf = (terminationGracePeriodSeconds: number) =>
  podView({ main: {}, spec: { terminationGracePeriodSeconds } }).pod;

function draining(drain: () => Promise<void>) {
  const clock = new SimulatedClock();
  const lines: string[] = [];
  let ended = false;
  const pods = [podOf(5), podOf(40), podOf(30)];
  const end = drainWithTimeout({ pods, drain, clock, print: (line) => lines.push(line) }).then(() => {
    ended = true;
  });
  return { clock, lines, end, hasEnded: () => ended };
}

test('draining waits for pods up to the longest grace period plus 15 s, and then reports that', async () => {
  const { clock, lines, end, hasEnded } = draining(() => new Promise(() => {}));
  await clock.advance(54_999);
  expect({ lines, ended: hasEnded() }).toEqual({ lines: [], ended: false });
  await clock.advance(1);
  await end;
  expect(lines).toEqual(['the pods did not terminate within 55s: no longer waiting for them']);
});

test('draining ends as soon as all pods have terminated', async () => {
  const { clock, lines, end } = draining(() => Promise.resolve());
  await end;
  await clock.advance(100_000);
  expect(lines).toEqual([]);
});
