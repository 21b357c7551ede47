import { describe, expect, test } from '@jest/globals';
import { burstsOf } from '../../../../../web/model/story/rows/storyBursts.ts';
import { storyRows } from '../../../../../web/model/story/rows/storyRows.ts';
import { buildSequence } from '../../../../../web/model/story/rows/storySequence.ts';
import { storySteps } from '../../../../../web/model/story/rows/storySteps.ts';
import { API, crashLoop, POD, READINESS } from '../../../support/crashLoop.ts';

const steps = storySteps(crashLoop());

function sequenceFor(subject: string, which = -1) {
  const burst = burstsOf(steps, subject).at(which);
  const rows = storyRows(burst?.steps ?? [], { subject });
  const now = (burst?.to ?? 0) + 112_000;
  return buildSequence({ rows, subject, from: burst?.from ?? 0, now, stateBefore: { state: 'ended.backingOff' } });
}

describe('a run', () => {
  const { participants, subjectIndex, columns, bars, gaps } = sequenceFor(API);

  test('has its participants, those outside the pod first', () => {
    expect(participants.map(({ label }) => label)).toEqual(['timer', 'start gate', 'runtime', 'api', 'events']);
    expect(participants[subjectIndex]?.actor).toBe(API);
  });

  test('has an arrow for each line, call and slot request', () => {
    const name = (id: string) => participants.find((party) => party.id === id)?.label;
    const arrows = columns.map(({ rowNumber, from, to }) => `${rowNumber ?? 'ask'} ${name(from)} → ${name(to)}`);
    expect(arrows).toEqual([
      '1 timer → api',
      'ask api → runtime',
      '2 runtime → api',
      'ask api → start gate',
      '3 api → events',
      '4 start gate → api',
      'ask api → runtime',
      '5 runtime → api',
      'ask api → runtime',
      '6 api → events',
      '7 runtime → api',
      '8 api → events',
      '9 runtime → api',
      '10 api → events',
    ]);
    expect(columns.map(({ label }) => label).filter(Boolean)).toEqual([
      '+0ms',
      '+2ms',
      '+2ms',
      '+12ms',
      '+80ms',
      '+1.70s',
    ]);
    expect(columns.filter(({ isFailure }) => isFailure).map(({ rowNumber }) => rowNumber)).toEqual([9]);
  });

  test('has the states of the subject between the arrows, the last one without an end', () => {
    expect(bars.map(({ from, to, state }) => [from, to, state])).toEqual([
      [-1, 0, 'ended.backingOff'],
      [0, 2, 'pending.gettingImage'],
      [2, 5, 'launching.creatingContainer.queued'],
      [5, 7, 'launching.creatingContainer.creating'],
      [7, 10, 'launching.creatingContainer.starting'],
      [10, 12, 'running.steady'],
      [12, 14, 'ended.backingOff'],
    ]);
  });

  test('labels long gaps', () => {
    expect(gaps).toEqual([
      { from: 11, to: 12, text: '1.6s' },
      { from: 13, to: 14, text: '112s so far' },
    ]);
  });
});

test('the arrows of a pod end at its descendants', () => {
  const { participants, columns } = sequenceFor(POD);
  const actors = participants.flatMap(({ actor }) => actor ?? []);
  expect(actors).toEqual([POD, API, READINESS]);
  expect(columns.at(-1)).toMatchObject({ from: ': probe', to: READINESS });
});
