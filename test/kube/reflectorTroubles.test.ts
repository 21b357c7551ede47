import { describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../kube/client.ts';
import { type KubeObject, Reflector, type ReflectorStep } from '../../kube/reflector.ts';
import { bookmark, FIRST_END, follow, object, watchOf } from '../fakes/followed.ts';
import { answered, brokenOff, refused, ToldTransport, ToldWatch, unreachable } from '../fakes/toldTransport.ts';

const TOO_LARGE = {
  ...{ code: 504, reason: 'Timeout', message: 'Too large resource version: 8, current: 2' },
  details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
};

describe('what the server has forgotten', () => {
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

  test('is read whole after a wait, not older than it was, and until then stays as it was', async () => {
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

  test('may also be refused instead of told', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, sets } = await follow(first.opened, refused(410, 'Expired'), watchOf(40).opened);
    first.end();
    await clock.advance(1_200);
    expect(sets).toEqual([['web@5'], []]);
  });

  test.each([
    ['forgotten', { code: 410, reason: 'Expired' }],
    ['not reached again since it was set up anew', TOO_LARGE],
  ])('as a whole, too, or has %s, is asked for as it is now, at once', async (_, why) => {
    const first = watchOf(8, object('web', 5));
    const { clock, sets, queries } = await follow(first.opened, answered(why.code, why), watchOf(3).opened);
    first.tell('ERROR', gone);
    await clock.advance(1_200);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(queries()[2]).toMatchObject({ sendInitialEvents: 'true' });
    expect(queries()[2]).not.toHaveProperty('resourceVersion');
    expect(sets).toEqual([['web@5'], []]);
  });

  test('is not asked for without a wait for ever', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries } = await follow(first.opened, ...new Array(5).fill(refused(410, 'Expired')));
    first.tell('ERROR', gone);
    await clock.advance(1_200);
    expect(queries()).toHaveLength(3);
  });

  test('may have another object under a name that is known: the one goes, and the other is there', async () => {
    const [first, second] = [watchOf(8, object('web', 5, 'old')), watchOf(31, object('web', 30, 'new'))];
    const { clock, uids } = await follow(first.opened, second.opened);
    first.tell('ERROR', gone);
    await clock.advance(1_200);
    expect(uids).toEqual([['old'], ['new']]);
  });
});

describe('the wait after a failure', () => {
  const waits = (steps: readonly ReflectorStep[], start: number) =>
    steps.flatMap((step) => (step.state === 'failing' ? [step.until - start] : []));

  test('doubles up to the longest, and from two minutes on begins anew', async () => {
    const { clock, steps } = await follow(...new Array(20).fill(unreachable()));
    const start = clock.now();
    await clock.advance(200_000);
    const ends = waits(steps, start).slice(0, 9);
    expect(ends.map((end, index) => end - (ends[index - 1] ?? 0))).toEqual([
      ...[1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 45_000, 1_200, 2_400],
    ]);
  });

  test('is the first again once all was well for two minutes', async () => {
    const first = watchOf(8);
    const { clock, steps } = await follow(unreachable(), unreachable(), first.opened, unreachable());
    await clock.advance(1_200 + 2_400 + 121_000);
    const start = clock.now();
    first.cut();
    await clock.advance(0);
    expect(waits(steps, start).at(-1)).toBe(1_200);
  });

  test('goes before all is read again after a refusal that is no fault of the server’s', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries, sets } = await follow(first.opened, refused(401, 'Unauthorized'), watchOf(60).opened);
    first.end();
    await clock.advance(1_200);
    expect(queries()[2]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(sets.at(-1)).toEqual([]);
  });

  test('goes before it is watched on from where it was, while nobody is there or the server is busy', async () => {
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

  test('goes before all is read again where the server broke, or broke off', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries } = await follow(first.opened, refused(500, 'InternalError'), brokenOff());
    first.end();
    await clock.advance(1_200);
    expect(queries()[2]).toMatchObject({ resourceVersion: '8', sendInitialEvents: 'true' });
    await clock.advance(2_400);
    expect(queries()[3]).toMatchObject({ resourceVersion: '8', sendInitialEvents: 'true' });
  });

  test('is as long as the server says, where that is longer', async () => {
    const busy = refused(429, 'TooManyRequests', { 'retry-after': '20' });
    const { clock, queries } = await follow(busy, watchOf(8).opened);
    await clock.advance(19_999);
    expect(queries()).toHaveLength(1);
    await clock.advance(1);
    expect(queries()).toHaveLength(2);
  });

  test('ends when nobody wants to hear any more', async () => {
    const { clock, controller, running, transport } = await follow(unreachable());
    controller.abort();
    await running;
    expect(clock.pending).toBe(0);
    expect(transport.requests).toHaveLength(1);
  });
});

describe('an object that cannot be read', () => {
  const nameless = { metadata: { name: 'odd', namespace: 'default', uid: 7, resourceVersion: '10' } };
  const problem = 'default/odd cannot be read: metadata.uid: expected string, got number';

  test('is left out of what there is at first, and told', async () => {
    const { sets, problems } = await follow(watchOf(8, object('web', 5), nameless, object('db', 6)).opened);
    expect(sets).toEqual([['web@5', 'db@6']]);
    expect(problems).toEqual([problem]);
  });

  test('is left out of a list, and told', async () => {
    const list = { metadata: { resourceVersion: '8' }, items: [nameless, object('web', 5), null] };
    const { sets, problems } = await follow(refused(422, 'Invalid'), answered(200, list), new ToldWatch().opened);
    expect(sets).toEqual([['web@5']]);
    expect(problems).toEqual([problem, 'an object without a name cannot be read: expected object, got null']);
  });

  test('is told once, keeps nobody up, and is not met again where the watch goes on', async () => {
    const [first, second] = [watchOf(8, object('web', 5)), new ToldWatch()];
    const { clock, sets, steps, problems, queries } = await follow(first.opened, second.opened);
    first.tell('ADDED', nameless);
    first.tell('MODIFIED', nameless);
    await clock.advance(0);
    first.end();
    await clock.advance(0);
    expect(queries()[1]).toMatchObject({ resourceVersion: '10' });
    second.tell('ADDED', object('db', 11));
    await clock.advance(0);
    expect(sets).toEqual([['web@5'], ['web@5', 'db@11']]);
    expect(problems).toEqual([problem]);
    expect(steps.filter(({ state }) => state === 'failing')).toEqual([]);
  });

  test('is not told again when all is read again, until it was well in between', async () => {
    const reads = [watchOf(8, nameless), watchOf(9, nameless), watchOf(10), watchOf(11, nameless)];
    const { clock, problems } = await follow(...reads.map(({ opened }) => opened));
    for (const read of reads) {
      read.tell('ERROR', { code: 410, reason: 'Expired' });
      await clock.advance(60_000);
    }
    expect(problems).toEqual([problem, problem]);
  });

  test('may be one of which what is to be kept is wrong', async () => {
    const kept: string[][] = [];
    const keep = ({ metadata: { name } }: KubeObject) => {
      if (name === 'odd') throw new Error('it has no port');
      return String(name);
    };
    const transport = new ToldTransport(watchOf(8, object('odd', 4), object('web', 5)).opened);
    const clock = new SimulatedClock();
    const problems: string[] = [];
    void new Reflector({
      ...{ client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }), path: '/api/v1/services', clock },
      ...{ jitter: () => 0, signal: new AbortController().signal, keep, onStep: () => {} },
      onSet: (objects) => kept.push([...objects]),
      onProblem: (each) => problems.push(each),
    }).run();
    await clock.advance(0);
    expect([kept, problems]).toEqual([[['web']], ['odd cannot be read: it has no port']]);
  });
});

describe('what is no event', () => {
  test.each([
    ['by its type', { type: 'SUNK', object: object('web', 9) }],
    ['as it has no object', { type: 'ADDED' }],
    ['as it is none', 5],
  ])('%s: what it was about is not known, so all is read again, after a wait', async (_, event) => {
    const [first, second] = [watchOf(8, object('web', 5)), watchOf(20, object('db', 19))];
    const { clock, sets, queries } = await follow(first.opened, second.opened);
    first.write(`${JSON.stringify(event)}\n`);
    await clock.advance(1_199);
    expect(queries()).toHaveLength(1);
    await clock.advance(1);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(sets).toEqual([['web@5'], ['db@19']]);
  });

  test('as it is no JSON: the same', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries } = await follow(first.opened, watchOf(9).opened);
    first.write('{"type":"ADD\n');
    await clock.advance(1_200);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
  });
});

test('what only the server needs to know of its objects is not kept', async () => {
  const clock = new SimulatedClock();
  const written = { metadata: { ...object('web', 5).metadata, managedFields: [{ manager: 'kubectl' }] }, spec: {} };
  const transport = new ToldTransport(watchOf(8, written).opened);
  const sets: (readonly KubeObject[])[] = [];
  void new Reflector({
    ...{ client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }), path: '/api/v1/pods', clock },
    ...{ jitter: () => 0, signal: new AbortController().signal, onSet: (set) => sets.push(set), onStep: () => {} },
  }).run();
  await clock.advance(0);
  expect(sets).toEqual([[{ ...object('web', 5), spec: {} }]]);
});

test('a server that is at an earlier state than before is read whole: it may have been restored', async () => {
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

test('a server that wants to be asked again in a day is asked again in a minute', async () => {
  const { clock, queries } = await follow(
    refused(429, 'TooManyRequests', { 'retry-after': '86400' }),
    watchOf(9).opened,
  );
  await clock.advance(59_999);
  expect(queries()).toHaveLength(1);
  await clock.advance(1);
  expect(queries()).toHaveLength(2);
});
