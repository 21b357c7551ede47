import { describe, expect, test } from '@jest/globals';
import { burstIndexAt, burstsOf } from '../../../../../web/model/story/rows/storyBursts.ts';
import { type Row, storyRows } from '../../../../../web/model/story/rows/storyRows.ts';
import { storySteps } from '../../../../../web/model/story/rows/storySteps.ts';
import { formatOffset } from '../../../../../web/model/story/storyWords.ts';
import { API, BEGAN, burst, crashLoop, NOW, POD, PROXY, READINESS, RUNS, tryOf } from '../../../support/crashLoop.ts';

const steps = storySteps(crashLoop());

const text = (from: number) => (row: Row) =>
  [formatOffset(row.at - from), row.source, row.text, row.note, row.state && `[${row.state.tag}] ${row.state.text}`]
    .filter(Boolean)
    .join(' ');

describe('the lines of a run', () => {
  const bursts = burstsOf(steps, API);
  const last = bursts.at(-1);
  const rows = storyRows(last?.steps ?? [], { subject: API });

  test('are those of its burst, starting with the cause', () => {
    expect(bursts.map(({ title }) => title)).toEqual(['Run 1', 'Run 2', 'Run 3', 'Run 4', 'Run 5', 'Run 6']);
    expect(last?.from).toBe(RUNS[5]);
  });

  test('contain the source, the event, its outcome and duration, and the change', () => {
    expect(rows.map(text(last?.from ?? 0))).toEqual([
      '+0ms timer elapsed [working] pending.gettingImage',
      '+2ms runtime findImage 2ms [waiting] launching.queued',
      '+2ms → event Pulled Pulled it',
      '+2ms gate granted [working] creating',
      '+12ms runtime createContainer 10ms [working] starting',
      '+12ms → event Created Created it',
      '+80ms runtime startContainer 68ms [steady] running.steady',
      '+80ms → event Started Started it',
      '+1.70s runtime observed exit 3 [retrying] ended.backingOff',
      '+1.70s → event BackOff Warning: BackOff it',
    ]);
  });

  test('contain the intermediate states, including those of the image', () => {
    expect(rows[1]?.passedStates).toEqual(['launching.readyToCreate', 'image found']);
    expect(rows.map(({ isFailure }) => isFailure).lastIndexOf(true)).toBe(8);
  });

  test('at a time are those of the last burst that has started', () => {
    expect(burstIndexAt(bursts, NOW)).toBe(5);
    expect(burstIndexAt(bursts, (RUNS[5] ?? 0) - 1)).toBe(4);
    expect(burstIndexAt(bursts, BEGAN - 1)).toBe(0);
  });
});

test('a run that started before the story has its number', () => {
  const { lines } = crashLoop();
  const cut = lines.filter(({ at }) => at > (RUNS[4] ?? 0) + 1_000);
  const before = [{ actor: API, state: 'running.steady', since: RUNS[4] ?? 0, tag: 'steady' }];
  expect(burstsOf(storySteps({ before, lines: cut }), API).map(({ title }) => title)).toEqual(['Run 5', 'Run 6']);
});

test('a different actor that a step moved has its own line', () => {
  const rows = storyRows(burstsOf(steps, POD)[0]?.steps ?? [], { subject: POD });
  const begins = rows.filter(({ kind }) => kind === 'moved').map(text(BEGAN));
  expect(begins).toContain('+4ms → pod volume.changed [working] sandboxing.creating');
  expect(begins).toContain('+170ms → readiness begins [waiting] failing.waiting');
});

describe('attempts of a probe', () => {
  test('are merged if they are consecutive', () => {
    const rows = storyRows(burstsOf(steps, POD).at(-1)?.steps ?? [], { subject: POD });
    expect(rows.at(-1)).toMatchObject({ kind: 'sum', text: 'proxy/readiness', note: '11 tries, all passed' });
  });

  test('are listed individually if the probe is selected', () => {
    const rows = storyRows(burstsOf(steps, READINESS).at(-1)?.steps ?? [], { subject: READINESS });
    expect(rows.at(-1)).toMatchObject({ kind: 'entered', text: 'runProbe', note: '30ms' });
  });

  test('contain the number of failures', () => {
    const lines = [0, 1, 2].flatMap((n) =>
      tryOf(BEGAN + n * 1_000, READINESS, n === 1 ? 'failing.waiting' : undefined),
    );
    const [row] = storyRows(storySteps({ before: [], lines }), { subject: PROXY });
    expect(row).toMatchObject({ note: '3 tries, 1 failed', isFailure: true, at: BEGAN, until: BEGAN + 2_030 });
  });
});

describe('above 200 lines per second', () => {
  const busy = storySteps({ before: [], lines: burst(1_000) });

  test('there is one for each actor', () => {
    const rows = storyRows(busy, { subject: '', isSampled: true });
    expect(rows).toHaveLength(20);
    const counted = rows.map(({ note }) => Number(note?.split(' ')[0]));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(busy.length);
  });

  test('there is one for each second', () => {
    const lines = [...burst(1_000), ...burst(1_000, BEGAN + 1_000)];
    expect(storyRows(storySteps({ before: [], lines }), { subject: '', isSampled: true })).toHaveLength(40);
  });

  test('no line is left out if the pod is selected', () => {
    expect(storyRows(busy, { subject: POD }).length).toBeGreaterThanOrEqual(busy.length);
  });

  test('the adjacent seconds are listed line by line', () => {
    const lines = [...burst(1_000), ...tryOf(BEGAN + 5_000)];
    const rows = storyRows(storySteps({ before: [], lines }), { subject: READINESS, isSampled: true });
    expect(rows.slice(20).map(({ text }) => text)).toEqual(['elapsed', 'runProbe']);
  });
});
