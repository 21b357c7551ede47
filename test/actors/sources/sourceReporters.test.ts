import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { problemReporter, sourceStateReporter } from '../../../actors/sources/sourceReporters.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';

const problem = (file: string, message: string) => ({ file, path: 'spec', message });

test('a problem is logged once as long as it persists, and again when it recurs', () => {
  const logged: string[] = [];
  const sent: NodeFact[] = [];
  const tell = problemReporter(
    (level, file, path, message) => logged.push(`${level} ${file} ${path}: ${message}`),
    (fact) => sent.push(fact),
  );
  const changed = (file: string, ...messages: string[]) =>
    tell({
      type: 'config.problemsChanged',
      source: 'file',
      file,
      problems: messages.map((each) => problem(file, each)),
    });
  changed('a.yaml', 'wrong');
  changed('b.yaml', 'wrong');
  changed('a.yaml', 'wrong', 'odd');
  expect(logged).toEqual(['error a.yaml spec: wrong', 'error b.yaml spec: wrong', 'error a.yaml spec: odd']);
  changed('a.yaml');
  changed('b.yaml', 'wrong');
  changed('a.yaml', 'wrong');
  expect(logged.slice(3)).toEqual(['error a.yaml spec: wrong']);
  expect(sent).toHaveLength(6);
});

test('the state of a source is published only when it changes', () => {
  const sent: NodeFact[] = [];
  const clock = new SimulatedClock();
  const { signal } = new AbortController();
  const own = { sourceName: '/etc/kubernetes', everyMs: 20_000, clock, signal };
  const tell = sourceStateReporter((fact) => sent.push(fact), 'file', own);
  tell({ state: 'broken', failure: 'gone' });
  tell({ state: 'broken', failure: 'gone' });
  expect(sent).toEqual([
    expect.objectContaining({
      type: 'config.sourceChanged',
      source: 'file',
      state: expect.objectContaining({ state: 'broken' }),
    }),
  ]);
});

test('an expired wait has no end time until the source has been checked again', async () => {
  const untils: (number | undefined)[] = [];
  const [clock, ending] = [new SimulatedClock(), new AbortController()];
  const own = { sourceName: '/etc/kubernetes', everyMs: 20_000, clock, signal: ending.signal };
  const send = (fact: NodeFact) => void (fact.type === 'config.sourceChanged' && untils.push(fact.state.until));
  const tell = sourceStateReporter(send, 'file', own);
  const begun = clock.now();
  tell({ state: 'failing', until: begun + 1_000, failure: 'EIO' });
  await clock.advance(1_000);
  tell({ state: 'failing', until: begun + 2_000, failure: 'EIO' });
  await clock.advance(500);
  tell({ state: 'watching' });
  await clock.advance(500);
  expect(untils).toEqual([begun + 1_000, undefined, begun + 2_000, undefined]);
  tell({ state: 'absent', until: begun + 3_000 });
  ending.abort();
  expect(clock.pending).toBe(0);
});

test('an expired wait is not published again by a check that is slightly ahead of the clock', async () => {
  const untils: (number | undefined)[] = [];
  const clock = new SimulatedClock();
  const { signal } = new AbortController();
  const own = { sourceName: '/etc/kubernetes', everyMs: 20_000, clock, signal };
  const send = (fact: NodeFact) => void (fact.type === 'config.sourceChanged' && untils.push(fact.state.until));
  const tell = sourceStateReporter(send, 'file', own);
  const until = clock.now() + 500;
  tell({ state: 'settling', until });
  await clock.advance(500);
  tell({ state: 'settling', until });
  tell({ state: 'watching' });
  expect(untils).toEqual([until, undefined, undefined]);
});
