/** The texts of the reading panels, without a browser. */
import { describe, expect, test } from '@jest/globals';
import type { Frame } from '../../../inspect/protocol.ts';
import { machines } from '../../../machines/drawing/charts.ts';
import { describeTransitions } from '../../../machines/drawing/ways.ts';
import { STATE_TAGS } from '../../../machines/shared/stateMeta.ts';
import { CATEGORIES } from '../../../show/category.ts';
import {
  CELL_FILTERS,
  containerFilter,
  countContainersByCategory,
  countPodsByPhase,
} from '../../../web/model/actors/bar.ts';
import { createTree } from '../../../web/model/actors/rows.ts';
import { CATEGORY_ICONS, colorClass } from '../../../web/model/categoryIcons.ts';
import { conditionsOf } from '../../../web/model/details/conditions.ts';
import { breadcrumb, chipText, fallbackAnswer, subjectOf, subjectTitle } from '../../../web/model/details/headline.ts';
import { conditionText, nextLines } from '../../../web/model/details/next.ts';
import { objectLines } from '../../../web/model/details/objectLines.ts';
import { attemptTable } from '../../../web/model/details/tried.ts';
import { logNote } from '../../../web/model/log/logNote.ts';
import { followSelection } from '../../../web/model/navigation/selection.ts';
import { computeCountdown, formatClock, formatTime } from '../../../web/model/rail/time.ts';
import { answerParts } from '../../../web/model/server/answer.ts';
import { createAnnouncer } from '../../../web/model/server/reading.ts';
import { withFrame, worldOf } from '../../../web/model/server/world.ts';
import { API, apiDetail, apiHistory, checkoutObject, designSnapshot, NOW } from '../support/nodeOnPage.ts';
import { pageModel, until } from '../support/pageModel.ts';

const world = worldOf(designSnapshot);
const api = world.actors.get(API);
const marked = (answer: string) =>
  answerParts(answer)
    .map(({ text, weight }) => (weight === 'plain' ? text : weight === 'bad' ? `!${text}!` : `*${text}*`))
    .join('');

test('a time on a different day has a date', () => {
  const now = Date.UTC(2026, 0, 2, 7);
  expect(formatTime(now - 60_000, now)).toBe('06:59:00');
  expect(formatTime(now - 8 * 3_600_000, now)).toBe('2026-01-01 23:00:00');
});

test('each category has its own icon and color', () => {
  const shapes = STATE_TAGS.map((tag) => `${CATEGORY_ICONS.get(tag)?.fill} ${CATEGORY_ICONS.get(tag)?.line}`);
  expect(shapes.filter((shape) => shape === 'undefined undefined')).toEqual([]);
  expect(new Set(shapes).size).toBe(STATE_TAGS.length);
  expect(new Set(STATE_TAGS.map(colorClass)).size).toBe(STATE_TAGS.length);
});

describe('an answer', () => {
  test.each([
    [
      'container api keeps failing: exit code 3 after 1s: no database at db.shop:5432; restarts at 07:44:40 (in 48s)',
      '*Container api* keeps failing: !exit code 3! after 1s: no database at db.shop:5432; restarts at *07:44:40*',
    ],
    ['container api is in back-off until 07:44:40 (in 48s)', '*Container api* is in *back-off* until *07:44:40*'],
    [
      'container main is in image pull back-off: ErrImagePull: no such host; next attempt at 07:46:10 (in 2m18s)',
      '*Container main* is in *image pull back-off*: !ErrImagePull!: no such host; next attempt at *07:46:10*',
    ],
    [
      'container app has terminated: OOMKilled, exit code 137 after 3s; it will not be restarted',
      '*Container app* has terminated: !OOMKilled, exit code 137! after 3s; it will not be restarted',
    ],
    [
      'container app keeps failing: killed (SIGKILL) after 3s; restarts at 07:44:40 (in 48s)',
      '*Container app* keeps failing: !killed (SIGKILL)! after 3s; restarts at *07:44:40*',
    ],
    ['container web is running and ready, for 3h12m', '*Container web* is running and ready'],
    ['volume data is waiting for its mount (for 12s so far)', '*Volume data* is waiting for its mount'],
    [
      'init container db has been running for 3m; the other containers are waiting for it',
      '*Init container db* has been running; the other containers are waiting for it',
    ],
    ['pod web is running, with 2 of 2 containers ready', '*Pod web* is running, with 2 of 2 containers ready'],
    [
      'pod web is waiting in the pull queue: place 3 of 7, 1 at a time',
      '*Pod web* is waiting in the pull queue: *place 3 of 7*, 1 at a time',
    ],
    ['everything is as it should be', 'Everything is as it should be'],
  ])('%s', (answer, parts) => {
    expect(marked(answer)).toBe(parts);
  });
});

describe('the headline', () => {
  const subjectAt = (url: string) => {
    const { page } = pageModel({ url });
    followSelection(page, () => undefined);
    const subject = subjectOf(page);
    if (!subject) throw new Error(`nothing is selected at ${url}`);
    return { subject, crumbs: breadcrumb(world, subject).map(({ name }) => name) };
  };

  test('leads from the namespace to the actor', () => {
    const { subject, crumbs } = subjectAt('/pod/shop/checkout-api/container/proxy/probe/readiness');
    expect(crumbs).toEqual(['shop', 'checkout-api-node-1', 'proxy', 'readiness']);
    expect(subjectTitle(subject)).toBe('probe readiness');
    expect(subjectAt('/node/startLimiter').crumbs).toEqual(['node-1', 'start']);
    expect(subjectAt('/node').crumbs).toEqual(['node-1']);
  });

  test('retains the breadcrumb of a deleted actor, with links to existing ancestors', () => {
    const { page } = pageModel({ url: '/pod/shop/checkout-api/container/proxy/probe/readiness' });
    followSelection(page, () => undefined);
    const crumbs = () => {
      const subject = subjectOf(page);
      return subject && breadcrumb(page.world.value, subject).map(({ name, path }) => [name, path]);
    };
    const frame: Frame = { at: NOW, pods: [], podsGone: [], actors: [], actorsGone: [], lines: [] };
    const proxy = 'pod/uid-checkout-api/container/proxy';
    page.live.value = withFrame(page.live.value, { ...frame, actorsGone: [proxy, `${proxy}/probe/readiness`] });
    expect(crumbs()).toEqual([
      ['shop', undefined],
      ['checkout-api-node-1', 'pod/uid-checkout-api'],
      ['proxy', undefined],
      ['readiness', undefined],
    ]);
    const all = [...page.live.value.actors.keys()].filter((path) => path.startsWith('pod/uid-checkout-api'));
    page.live.value = withFrame(page.live.value, { ...frame, actorsGone: all, podsGone: ['uid-checkout-api'] });
    expect(crumbs()?.map(([name]) => name)).toEqual(['shop', 'checkout-api-node-1', 'proxy', 'readiness']);
  });

  test('describes the most severe descendant, e.g. a container in back-off', () => {
    const { subject } = subjectAt('/pod/shop/checkout-api');
    expect([subject.category, chipText(subject)]).toEqual(['retrying', 'CrashLoopBackOff']);
    expect(fallbackAnswer(subject)).toBe('pod checkout-api-node-1 is waiting for the end of its back-off');
    expect(computeCountdown(subject.worstActor, NOW)).toEqual({
      amount: '48s',
      caption: 'of 2m40s left',
      remainingFraction: 0.3,
      description: '48s left, until 07:44:40',
    });
  });

  test.each(CATEGORIES)(
    'of an actor that is %s names no internal state before the first response, or after the actor is gone',
    (category) => {
      const { subject } = subjectAt('/pod/shop/checkout-api');
      const { waitingFor: _, ...rest } = { ...subject.actor, state: 'odd.inner', tags: [category] };
      const plain = { ...subject, actor: rest, worstActor: rest };
      const answers = [fallbackAnswer(plain), fallbackAnswer({ ...plain, isDeleted: true })];
      expect(answers.join()).not.toMatch(/odd|inner|undefined/);
      expect(answers[0]).toMatch(/^pod checkout-api-node-1 (?:is|has) \w+/);
      expect(answers[1]).toMatch(/^pod checkout-api-node-1 is gone; it (?:was|had) \w+/);
    },
  );

  test('counts down in whole seconds, so that the clock and the remaining time add up to the deadline', () => {
    const { page } = pageModel();
    for (const ms of [0, 250, 999, 1_001, 2_750]) {
      page.browserTime.value = NOW + ms;
      const clock = page.now.value;
      expect(clock % 1_000).toBe(0);
      const until = NOW + 48_000 + 600;
      const { amount } = computeCountdown({ since: NOW, until }, clock);
      expect(`${formatClock(clock + 1_000 * Number.parseInt(amount, 10))}`).toBe(formatClock(until));
    }
  });

  test('counts up if there is no deadline or it has passed', () => {
    expect(computeCountdown({ since: NOW - 90_000 }, NOW)).toMatchObject({
      amount: '90s',
      caption: 'in this state',
      remainingFraction: undefined,
    });
    expect(computeCountdown({ since: NOW - 9_000, until: NOW - 1_000 }, NOW)).toMatchObject({
      caption: 'due since 07:43:51',
    });
  });
});

describe('what comes next', () => {
  const lines = (...given: Parameters<typeof nextLines>) =>
    nextLines(...given).map(({ when, text, emphasis }) => `${when}: ${text} ${emphasis}`.trim());

  test('of a container in back-off contains the time, the run, earlier triggers and the next back-off', () => {
    expect(lines({ ...apiDetail, ...apiHistory }, api)).toEqual([
      '07:44:40: it is started as run 7',
      'Sooner: when its image or resources are changed',
      ': when it is told to stop',
      'If it fails: it waits longer, at most 5m',
    ]);
  });

  test('does not predict a longer wait after two equal waits', () => {
    const tried = apiHistory.tried.map((run) => ({ ...run, waitedMs: 300_000 }));
    expect(lines({ ...apiDetail, tried }, api).at(-1)).toBe('If it fails: it waits 5m again');
  });

  test('of any other actor contains the transitions and targets', () => {
    const next = [
      { way: 'a', on: 'createContainer done [else]', to: 'launching.creatingContainer.starting' },
      { way: 'b', on: 'container.stop', to: 'stopped' },
    ];
    expect(lines({ ...apiDetail, next, tried: [] }, undefined)).toEqual([
      'Goes on: when "create container" is done, to launching.creatingContainer.starting',
      ': when it is told to stop, to stopped',
    ]);
  });

  test('of an actor with a condition contains the condition', () => {
    const next = [
      { way: 'a', on: '[isComplete]', to: 'terminating' },
      { way: 'b', on: '[isOdd]', to: 'elsewhere' },
    ];
    expect(lines({ ...apiDetail, next, tried: [] }, undefined)).toEqual([
      'Goes on: when none of its containers has anything left to do, to terminating',
    ]);
  });

  test('of a container in back-off is shown before its history is loaded', () => {
    const lastRun = { containerId: 'a', exitCode: 3, reason: 'Error' };
    expect(lines(apiDetail, { machine: 'container', tags: ['retrying'], since: NOW, lastRun })[0]).toBe(
      '07:44:40: it is started again',
    );
  });

  test('of a healthy actor is empty', () => {
    const next = [
      { way: 'a', on: 'container.stop', to: 'stopped' },
      { way: 'b', on: 'timer.elapsed', to: 'passing.probing', at: NOW + 4_000 },
    ];
    const rests = (tags: readonly string[]) =>
      lines({ ...apiDetail, next }, { machine: 'container', tags, since: NOW });
    for (const tags of [['steady'], ['done'], ['waiting', 'passing'], ['working', 'passing']])
      expect(rests(tags)).toEqual([]);
    expect(rests(['waiting'])).toHaveLength(2);
  });

  test('contains no names of guards or events from the code', () => {
    const labels = machines.flatMap((machine) => describeTransitions(machine).map(({ label }) => label));
    expect(labels.filter((label) => label.includes('['))).not.toEqual([]);
    const texts = labels.flatMap((label) => conditionText(label) ?? []);
    // "ConfigMap" is a Kubernetes kind.
    const isCode = (text: string) => /[[\]]|[a-z]\.[a-z]|[a-z][A-Z]/.test(text.replaceAll('ConfigMap', ''));
    expect(texts.filter(isCode)).toEqual([]);
    expect(new Set(texts).size).toBeGreaterThan(40);
  });
});

test('the runs are listed latest first with their waits and a summary', () => {
  const { runs, summary, longestMs } = attemptTable(apiHistory, api);
  expect(runs.map(({ run, waitedMs = 0 }) => `${run} ${waitedMs / 1_000}s`)).toEqual([
    '6 160s',
    '5 80s',
    '4 40s',
    '3 20s',
  ]);
  expect([summary, longestMs]).toEqual(['6 runs, none over 2s', 160_000]);
});

describe('an object', () => {
  const text = (object: unknown) =>
    objectLines(object).map(({ indent, key, value }) => {
      const parts = value.map((part) => (part.isRedacted ? '<held back>' : part.text)).join('');
      return `${indent}${key === '' ? '' : `${key}: `}${parts}`.trimEnd();
    });

  test('is formatted like YAML with redacted values marked', () => {
    expect(text(checkoutObject.manifest)).toEqual([
      'apiVersion: v1',
      'kind: Pod',
      'metadata:',
      '  name: checkout-api-node-1',
      '  namespace: shop',
      '  labels: {}',
      'spec:',
      '  containers:',
      '    - name: api',
      '      image: registry.shop/api:2.1',
      '      command:',
      '        - /bin/sh',
      '        - "-c"',
      '        - |',
      '          set -e',
      '          exec api',
      '      env:',
      '        - name: DB_PASSWORD',
      '          value: <held back>',
      '    - name: proxy',
      '      image: registry.shop/proxy:1',
    ]);
  });

  test('strings that YAML would interpret as other values are quoted', () => {
    expect(text({ a: '', b: 'true', c: '12', d: 'a: b', e: null, f: 3, g: [[]], h: '-' })).toEqual([
      'a: ""',
      'b: "true"',
      'c: "12"',
      'd: "a: b"',
      'e: null',
      'f: 3',
      'g:',
      '  - []',
      'h: "-"',
    ]);
  });
});

test('the conditions of a status and of a malformed value', () => {
  expect(conditionsOf(checkoutObject.status)[0]).toEqual({
    type: 'Ready',
    status: 'False',
    isHealthy: false,
    at: Date.parse('2026-05-04T07:39:15Z'),
    explanation: 'ContainersNotReady: containers with unready status: [api]',
  });
  const odd = [
    { type: 'Ready', status: 'Unknown' },
    { type: 'DisruptionTarget', status: 'True' },
    { type: 'DisruptionTarget', status: 'False' },
  ];
  expect(conditionsOf({ conditions: odd }).map(({ status, isHealthy }) => `${status} ${isHealthy}`)).toEqual([
    'Unknown false',
    'True false',
    'False true',
  ]);
  expect([conditionsOf(undefined), conditionsOf({ conditions: [null, 3] })]).toEqual([[], []]);
});

describe('the bar', () => {
  test('counts pods by phase and containers by category', () => {
    expect(countPodsByPhase(world).map(({ value, count }) => `${count} ${value}`)).toEqual([
      '13 Running',
      '4 Pending',
      '1 Succeeded',
      '1 Failed',
    ]);
    expect(countContainersByCategory(world).map(({ value, count }) => `${count} ${value}`)).toEqual([
      '12 steady',
      '1 working',
      '4 waiting',
      '1 retrying',
    ]);
  });

  test('the filters of its cells match the counted actors', () => {
    const found = (q: string) => {
      const { page } = pageModel({ url: `/?q=${encodeURIComponent(q)}` });
      const { rows, problem } = createTree(page);
      expect(problem.value).toBeUndefined();
      return rows.value.filter(({ row }) => row.isMatch).length;
    };
    for (const { value, count } of countContainersByCategory(world)) expect(found(containerFilter(value))).toBe(count);
    expect(found(CELL_FILTERS.pods)).toBe(19);
    expect(found(CELL_FILTERS.failedPods)).toBe(1);
    expect(found(CELL_FILTERS.pull)).toBe(2);
    expect([found(CELL_FILTERS.start), found(CELL_FILTERS.loop) > 0]).toEqual([0, true]);
  });
});

test('the note about a missing log contains only known facts', () => {
  const live = { isContainer: true, isPast: false };
  expect(logNote({ lines: ['x'] }, live)).toBeUndefined();
  expect(logNote(undefined, live)).toBeUndefined();
  expect(logNote(undefined, { isContainer: false, isPast: false })).toBe('Only containers write logs.');
  expect(logNote({ lines: [] }, live)).toBe('It has written nothing yet.');
  expect(logNote({ lines: [], note: 'it waits to start' }, live)).toBe('it waits to start');
  expect(logNote({ lines: ['x'] }, { isContainer: true, isPast: true })).toContain('not recorded');
});

test('a new answer is announced at once, then the latest every five seconds, and none twice', async () => {
  let now = 0;
  const timers: { at: number; after: () => void }[] = [];
  const { announcement, announce } = createAnnouncer({
    now: () => now,
    setTimeout: (after, ms) => timers.push({ at: now + ms, after }),
  });
  announce('one');
  expect(announcement.value).toBe('one');
  now = 1_000;
  announce('two');
  announce('three');
  expect([announcement.value, timers.map(({ at }) => at)]).toEqual(['one', [5_000]]);
  now = 5_000;
  timers[0]?.after();
  announce('three');
  expect([announcement.value, timers.length]).toEqual(['three', 1]);
  await until(() => true);
});
