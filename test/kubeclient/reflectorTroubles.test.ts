import { describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import { POD, toListType } from '../../kubeclient/paths.ts';
import { type KubeObject, Reflector, type ReflectorState } from '../../kubeclient/reflector.ts';
import { bookmark, FIRST_END, follow, object, untilRead, watchOf } from '../fakes/followed.ts';
import {
  answered,
  brokenOff,
  type Reply,
  refused,
  ToldTransport,
  ToldWatch,
  unreachable,
} from '../fakes/toldTransport.ts';

const POD_LIST = toListType(POD);
const TOO_LARGE = {
  code: 504,
  reason: 'Timeout',
  message: 'Too large resource version: 8, current: 2',
  details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
};

describe('an expired resourceVersion', () => {
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

  test('causes a new list after a delay, not older than before, and the set stays unchanged until then', async () => {
    const [first, second] = [watchOf(8, object('web', 5), object('db', 6)), new ToldWatch()];
    const { clock, sets, queries } = await follow(first.opened, second.opened);
    first.tell('ERROR', gone);
    await clock.advance(1_199);
    expect(queries()).toHaveLength(1);
    await clock.advance(1);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    second.tell('ADDED', object('db', 30));
    await clock.advance(0);
    expect(sets).toEqual([['web@5', 'db@6']]);
    second.tell('BOOKMARK', bookmark(31, FIRST_END));
    await clock.advance(0);
    expect(sets.at(-1)).toEqual(['db@30']);
  });

  test('may also be rejected with a status code', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, sets } = await follow(first.opened, refused(410, 'Expired'), watchOf(40).opened);
    first.end();
    await clock.advance(1_200);
    expect(sets).toEqual([['web@5'], []]);
  });

  test.each([
    ['forgotten', { code: 410, reason: 'Expired' }],
    ['not reached again since it was set up anew', TOO_LARGE],
  ])('that the server has %s leads immediately to a request for the current state', async (_, why) => {
    const first = watchOf(8, object('web', 5));
    const { clock, sets, queries } = await follow(first.opened, answered(why.code, why), watchOf(3).opened);
    first.tell('ERROR', gone);
    await clock.advance(1_200);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(queries()[2]).toMatchObject({ sendInitialEvents: 'true' });
    expect(queries()[2]).not.toHaveProperty('resourceVersion');
    expect(sets).toEqual([['web@5'], []]);
  });

  test('is not requested forever without a delay', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries } = await follow(first.opened, ...new Array(5).fill(refused(410, 'Expired')));
    first.tell('ERROR', gone);
    await clock.advance(1_200);
    expect(queries()).toHaveLength(3);
  });

  test('may have a new object under a known name, which replaces the old one', async () => {
    const [first, second] = [watchOf(8, object('web', 5, 'old')), watchOf(31, object('web', 30, 'new'))];
    const { clock, uids } = await follow(first.opened, second.opened);
    first.tell('ERROR', gone);
    await clock.advance(1_200);
    expect(uids).toEqual([['old'], ['new']]);
  });
});

describe('the back-off after a failure', () => {
  const waits = (steps: readonly ReflectorState[], start: number) =>
    steps.flatMap((step) => (step.state === 'failing' ? [step.until - start] : []));

  test('doubles up to the maximum and starts again after two minutes', async () => {
    const { clock, steps } = await follow(...new Array(20).fill(unreachable()));
    const start = clock.now();
    await clock.advance(200_000);
    const ends = waits(steps, start).slice(0, 9);
    expect(ends.map((end, index) => end - (ends[index - 1] ?? 0))).toEqual([
      1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 45_000, 1_200, 2_400,
    ]);
  });

  test('starts again after two minutes without failures', async () => {
    const first = watchOf(8);
    const { clock, steps } = await follow(unreachable(), unreachable(), first.opened, unreachable());
    await clock.advance(1_200 + 2_400 + 121_000);
    const start = clock.now();
    first.cut();
    await clock.advance(0);
    expect(waits(steps, start).at(-1)).toBe(1_200);
  });

  test('precedes a new list after a rejection that is not due to the server', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries, sets } = await follow(first.opened, refused(401, 'Unauthorized'), watchOf(60).opened);
    first.end();
    await clock.advance(1_200);
    expect(queries()[2]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(sets.at(-1)).toEqual([]);
  });

  test('precedes a continued watch if the server is down or busy', async () => {
    const first = watchOf(8, object('web', 5));
    const busy = refused(429, 'TooManyRequests');
    const { clock, queries } = await follow(first.opened, unreachable(), busy, new ToldWatch().opened);
    first.end();
    await clock.advance(1_200 + 2_400);
    expect(queries().slice(1)).toMatchObject(new Array(3).fill({ resourceVersion: '8' }));
    expect(
      queries()
        .slice(1)
        .some((query) => 'sendInitialEvents' in query),
    ).toBe(false);
  });

  test('precedes a new list if the server failed or the connection broke', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries } = await follow(first.opened, refused(500, 'InternalError'), brokenOff());
    first.end();
    await clock.advance(1_200);
    expect(queries()[2]).toMatchObject({ resourceVersion: '8', sendInitialEvents: 'true' });
    await clock.advance(2_400);
    expect(queries()[3]).toMatchObject({ resourceVersion: '8', sendInitialEvents: 'true' });
  });

  test('is at least as long as the server requests', async () => {
    const busy = refused(429, 'TooManyRequests', { 'retry-after': '20' });
    const { clock, queries } = await follow(busy, watchOf(8).opened);
    await clock.advance(19_999);
    expect(queries()).toHaveLength(1);
    await clock.advance(1);
    expect(queries()).toHaveLength(2);
  });

  test('ends when the signal aborts', async () => {
    const { clock, controller, running, transport } = await follow(unreachable());
    controller.abort();
    await running;
    expect(clock.pending).toBe(0);
    expect(transport.requests).toHaveLength(1);
  });
});

describe('an invalid response', () => {
  const withoutUid = { ...POD, metadata: { name: 'odd', namespace: 'default', resourceVersion: '10' } };
  const list = (more: object) => ({ ...POD_LIST, metadata: { resourceVersion: '9' }, items: [], ...more });

  test.each<[string, Reply, RegExp]>([
    [
      'a list of another kind',
      answered(200, list({ kind: 'NamespaceList' })),
      /kind NamespaceList of v1, expected kind PodList of v1/,
    ],
    ['a list of another API version', answered(200, list({ apiVersion: 'v2' })), /kind PodList of v2, expected/],
    ['a single object', answered(200, object('web', 9)), /kind Pod of v1, expected kind PodList of v1/],
    [
      'a list without a kind',
      answered(200, { metadata: { resourceVersion: '9' }, items: [] }),
      /apiVersion: Required value/,
    ],
    ['a list whose items are null', answered(200, list({ items: null })), /items: expected array, got null/],
    ['a list without items', answered(200, list({ items: undefined })), /items: Required value/],
    ['a list without metadata', answered(200, list({ metadata: undefined })), /metadata: Required value/],
    [
      'an item of another kind',
      answered(200, list({ items: [{ ...object('web', 5), kind: 'Node' }] })),
      /kind Node of v1/,
    ],
    [
      'an item without a UID',
      answered(200, list({ items: [object('db', 6), withoutUid] })),
      /default\/odd cannot be read: metadata.uid: Required/,
    ],
    ['an item that is null', answered(200, list({ items: [null] })), /an object without a name cannot be read/],
    [
      'content of another type',
      answered(200, list({}), { 'content-type': 'text/html' }),
      /content of type text\/html, expected application\/json/,
    ],
    ['an empty body', answered(200, ''), /answered with nothing/],
  ])('changes nothing: %s', async (_, response, failure) => {
    const first = watchOf(8, object('web', 5));
    const noWatchList = refused(422, 'Invalid');
    const last = watchOf(20, object('db', 19));
    const { clock, sets, steps } = await follow(first.opened, noWatchList, response, last.opened);
    first.tell('ERROR', { code: 410, reason: 'Expired' });
    await clock.advance(1_200);
    expect(steps.at(-1)).toMatchObject({ state: 'failing', failure: expect.stringMatching(failure) });
    expect(sets).toEqual([['web@5']]);
  });

  test.each<[string, (watch: ToldWatch) => void]>([
    ['an event about another kind', (watch) => watch.tell('DELETED', { ...object('web', 9), kind: 'Node' })],
    ['an event without a UID', (watch) => watch.tell('MODIFIED', withoutUid)],
    ['a bookmark of another kind', (watch) => watch.tell('BOOKMARK', { ...bookmark(9), kind: 'Node' })],
  ])('changes nothing, and the objects are read again: %s', async (_, send) => {
    const [first, second] = [watchOf(8, object('web', 5)), watchOf(20, object('web', 5), object('db', 19))];
    const { clock, sets, queries } = await follow(first.opened, second.opened);
    send(first);
    await clock.advance(0);
    expect(sets).toEqual([['web@5']]);
    await clock.advance(1_200);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(sets.at(-1)).toEqual(['web@5', 'db@19']);
  });

  test('changes nothing: initial events of a watch that include an object without a UID', async () => {
    const [first, second] = [watchOf(8, object('web', 5)), watchOf(20, withoutUid)];
    const { clock, sets, steps } = await follow(first.opened, second.opened, unreachable());
    first.tell('ERROR', { code: 410, reason: 'Expired' });
    await clock.advance(1_200);
    expect(steps.at(-1)).toMatchObject({ state: 'failing' });
    expect(sets).toEqual([['web@5']]);
  });

  test('changes nothing: a watch with a different content type', async () => {
    const html: Reply = async (signal) => ({
      ...(await watchOf(20).opened(signal)),
      headers: new Map([['content-type', 'text/html; charset=utf-8']]),
    });
    const first = watchOf(8, object('web', 5));
    const { clock, sets, steps } = await follow(first.opened, html);
    first.end();
    await clock.advance(0);
    expect(steps.at(-1)).toMatchObject({ failure: expect.stringContaining('text/html; charset=utf-8') });
    expect(sets).toEqual([['web@5']]);
  });

  test('does not include JSON with a character set in its content type', async () => {
    const json = { 'content-type': 'application/json; charset=utf-8' };
    const items = [object('web', 5)];
    const { sets } = await follow(
      refused(422, 'Invalid'),
      answered(200, list({ items }), json),
      new ToldWatch().opened,
    );
    expect(sets).toEqual([['web@5']]);
  });
});

describe('an object that is rejected', () => {
  async function followNames(...replies: readonly Reply[]) {
    const transport = new ToldTransport(...replies);
    const clock = new SimulatedClock();
    const sets: string[][] = [];
    const problems: string[] = [];
    void new Reflector({
      client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }),
      path: '/api/v1/pods',
      type: POD,
      clock,
      jitter: () => 0,
      signal: new AbortController().signal,
      transform: ({ metadata: { name }, broken }: KubeObject) => {
        if (broken === true) throw new Error('it has no port');
        return String(name);
      },
      onStep: () => {},
      onSet: (names) => sets.push([...names]),
      onProblem: (problem) => problems.push(problem),
    }).run();
    await untilRead(clock);
    return { clock, sets, problems };
  }
  const broken = (name: string, version: number) => ({ ...object(name, version), broken: true });
  const problem = 'odd cannot be read: it has no port';

  test('is left out and reported once', async () => {
    const { sets, problems } = await followNames(
      watchOf(8, broken('odd', 4), broken('odd', 5), object('web', 5)).opened,
    );
    expect(sets).toEqual([['web']]);
    expect(problems).toEqual([problem]);
  });

  test('retains its last valid version, even after a new list', async () => {
    const [first, second] = [watchOf(8, object('odd', 4), object('web', 5)), watchOf(20, broken('odd', 19))];
    const { clock, sets } = await followNames(first.opened, second.opened);
    first.tell('MODIFIED', broken('odd', 9));
    first.tell('ERROR', { code: 410, reason: 'Expired' });
    await clock.advance(1_000);
    expect(sets).toEqual([['odd', 'web'], ['odd', 'web'], ['odd']]);
  });

  test('is reported again only if it was valid in between', async () => {
    const reads = [
      watchOf(8, broken('odd', 4)),
      watchOf(9, broken('odd', 4)),
      watchOf(10),
      watchOf(11, broken('odd', 4)),
    ];
    const { clock, problems } = await followNames(...reads.map(({ opened }) => opened));
    for (const read of reads) {
      read.tell('ERROR', { code: 410, reason: 'Expired' });
      await clock.advance(60_000);
    }
    expect(problems).toEqual([problem, problem]);
  });
});

describe('an invalid event', () => {
  test.each([
    ['by its type', { type: 'SUNK', object: object('web', 9) }],
    ['as it has no object', { type: 'ADDED' }],
    ['as it is none', 5],
  ])('(%s) causes a new list after a delay, because the affected object is unknown', async (_, event) => {
    const [first, second] = [watchOf(8, object('web', 5)), watchOf(20, object('db', 19))];
    const { clock, sets, queries } = await follow(first.opened, second.opened);
    first.write(`${JSON.stringify(event)}\n`);
    await clock.advance(1_199);
    expect(queries()).toHaveLength(1);
    await clock.advance(1);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(sets).toEqual([['web@5'], ['db@19']]);
  });

  test('that is not JSON is handled in the same way', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries } = await follow(first.opened, watchOf(9).opened);
    first.write('{"type":"ADD\n');
    await clock.advance(1_200);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
  });
});

test('does not store managedFields', async () => {
  const clock = new SimulatedClock();
  const written = {
    ...object('web', 5),
    metadata: { ...object('web', 5).metadata, managedFields: [{ manager: 'kubectl' }] },
    spec: {},
  };
  const transport = new ToldTransport(watchOf(8, written).opened);
  const sets: (readonly KubeObject[])[] = [];
  void new Reflector({
    client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }),
    path: '/api/v1/pods',
    type: POD,
    clock,
    jitter: () => 0,
    signal: new AbortController().signal,
    onSet: (set) => sets.push(set),
    onStep: () => {},
  }).run();
  await untilRead(clock);
  expect(sets).toEqual([[{ ...object('web', 5), spec: {} }]]);
});

test('lists again if the server is at an earlier version, because it may have been restored', async () => {
  const [first, second] = [watchOf(80, object('web', 50)), watchOf(9, object('db', 5))];
  const { clock, sets, steps, queries } = await follow(first.opened, second.opened);
  first.tell('ADDED', object('db', 5));
  await clock.advance(0);
  expect(steps.at(-1)).toMatchObject({ failure: 'the server was at 80 and is at 5: it may have been restored' });
  await clock.advance(2_000);
  expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true' });
  expect(queries()[1]).not.toHaveProperty('resourceVersion');
  expect(sets.at(-1)).toEqual(['db@5']);
});

test('limits a retry-after of a day to a minute', async () => {
  const { clock, queries } = await follow(
    refused(429, 'TooManyRequests', { 'retry-after': '86400' }),
    watchOf(9).opened,
  );
  await clock.advance(59_999);
  expect(queries()).toHaveLength(1);
  await clock.advance(1);
  expect(queries()).toHaveLength(2);
});
