import { describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../kube/client.ts';
import { type KubeObject, Reflector, type ReflectorStep } from '../../kube/reflector.ts';
import { answered, type Reply, refused, ToldTransport, ToldWatch, unreachable } from '../fakes/toldTransport.ts';

const PATH = '/api/v1/pods';
const FIRST_END = { 'k8s.io/initial-events-end': 'true' };

const object = (name: string, version: number, uid = `${name}-uid`) => ({
  metadata: { name, uid, resourceVersion: String(version) },
});
const bookmark = (version: number, annotations: object = {}) => ({
  metadata: { resourceVersion: String(version), annotations },
});

/** A watch that has told what there is at first. */
function watchOf(version: number, ...objects: readonly object[]): ToldWatch {
  const watch = new ToldWatch();
  for (const each of objects) watch.tell('ADDED', each);
  watch.tell('BOOKMARK', bookmark(version, FIRST_END));
  return watch;
}

const named = (objects: readonly KubeObject[]) =>
  objects.map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`);

async function follow(...replies: readonly Reply[]) {
  const clock = new SimulatedClock();
  const transport = new ToldTransport(...replies);
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
  const controller = new AbortController();
  const sets: string[][] = [];
  const steps: ReflectorStep[] = [];
  const running = new Reflector({
    ...{ client, path: PATH, query: { fieldSelector: 'spec.nodeName=node-1' }, clock, jitter: () => 0.5 },
    signal: controller.signal,
    onSet: (objects) => sets.push(named(objects)),
    onStep: (step) => steps.push(step),
  }).run();
  await clock.advance(0);
  /** The queries of what was asked. */
  const queries = () =>
    transport.requests.map(({ path }) => Object.fromEntries(new URLSearchParams(path.split('?')[1])));
  return { clock, transport, controller, running, sets, steps, queries };
}

describe('what there is at first', () => {
  test('is told as one, once the server has told all of it', async () => {
    const watch = new ToldWatch();
    const { clock, sets, steps, queries } = await follow(watch.opened);
    watch.tell('ADDED', object('web', 5));
    watch.tell('ADDED', object('db', 3));
    watch.tell('BOOKMARK', bookmark(7));
    await clock.advance(1_000);
    expect(sets).toEqual([]);
    expect(steps).toEqual([{ state: 'reading' }]);
    watch.tell('BOOKMARK', bookmark(8, FIRST_END));
    await clock.advance(0);
    expect(sets).toEqual([['web@5', 'db@3']]);
    expect(steps).toEqual([{ state: 'reading' }, { state: 'watching' }]);
    expect(queries()).toEqual([
      {
        ...{ fieldSelector: 'spec.nodeName=node-1', watch: 'true', allowWatchBookmarks: 'true' },
        ...{ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', timeoutSeconds: '450' },
      },
    ]);
  });

  test('is as it has become by the time that all is told', async () => {
    const watch = new ToldWatch();
    const { clock, sets } = await follow(watch.opened);
    for (const name of ['web', 'db']) watch.tell('ADDED', object(name, 5));
    watch.tell('MODIFIED', object('web', 6));
    watch.tell('DELETED', object('db', 7));
    watch.tell('BOOKMARK', bookmark(7, FIRST_END));
    await clock.advance(0);
    expect(sets).toEqual([['web@6']]);
  });

  test('is nothing where there is nothing', async () => {
    const { sets } = await follow(watchOf(4).opened);
    expect(sets).toEqual([[]]);
  });

  test('is asked for anew, after a wait, if the server stops before all is told', async () => {
    const [broken, whole] = [new ToldWatch(), watchOf(9, object('web', 5))];
    broken.tell('ADDED', object('db', 3));
    broken.end();
    const { clock, sets, transport } = await follow(broken.opened, whole.opened);
    await clock.advance(1_199);
    expect(sets).toEqual([]);
    expect(transport.requests).toHaveLength(1);
    await clock.advance(1);
    expect(sets).toEqual([['web@5']]);
  });
});

describe('each change', () => {
  test('is told with all that there is then', async () => {
    const watch = watchOf(8, object('web', 5));
    const { clock, sets } = await follow(watch.opened);
    watch.tell('ADDED', object('db', 9));
    watch.tell('MODIFIED', object('web', 10));
    watch.tell('DELETED', object('db', 11));
    await clock.advance(0);
    expect(sets.slice(1)).toEqual([['web@5', 'db@9'], ['web@10', 'db@9'], ['web@10']]);
  });

  test('of an object is of that one, not of another that has taken its name', async () => {
    const watch = watchOf(8, object('web', 5, 'first'));
    const { clock, sets } = await follow(watch.opened);
    watch.tell('ADDED', object('web', 9, 'second'));
    watch.tell('DELETED', object('web', 10, 'first'));
    await clock.advance(0);
    expect(sets.at(-1)).toEqual(['web@9']);
  });
});

describe('a watch that ends', () => {
  test('goes on from what was heard last, be it an event or how far the server has come', async () => {
    const [first, second, third] = [watchOf(8, object('web', 5)), new ToldWatch(), new ToldWatch()];
    const { clock, sets, steps, queries } = await follow(first.opened, second.opened, third.opened);
    first.tell('MODIFIED', object('web', 9));
    first.end();
    await clock.advance(0);
    expect(queries()[1]).toMatchObject({ resourceVersion: '9', watch: 'true', allowWatchBookmarks: 'true' });
    expect(queries()[1]).not.toHaveProperty('sendInitialEvents');
    second.tell('BOOKMARK', bookmark(20));
    second.end();
    await clock.advance(0);
    expect(queries()[2]).toMatchObject({ resourceVersion: '20' });
    third.tell('ADDED', object('db', 21));
    await clock.advance(0);
    expect(sets).toEqual([['web@5'], ['web@9'], ['web@9', 'db@21']]);
    expect(steps.filter(({ state }) => state === 'failing')).toEqual([]);
  });

  test('at once and without a word is begun again after a wait only', async () => {
    const empty = new ToldWatch();
    empty.end();
    const first = watchOf(8);
    first.end();
    const { clock, transport, steps } = await follow(first.opened, empty.opened, new ToldWatch().opened);
    await clock.advance(1_199);
    expect(transport.requests).toHaveLength(2);
    expect(steps.at(-1)).toMatchObject({ state: 'failing' });
    await clock.advance(1);
    expect(transport.requests).toHaveLength(3);
    expect(steps.at(-1)).toEqual({ state: 'watching' });
  });

  test('because it broke goes on from there after a wait, and says meanwhile what is wrong', async () => {
    const [first, second] = [watchOf(8, object('web', 5)), new ToldWatch()];
    const { clock, sets, steps, queries } = await follow(first.opened, second.opened);
    const since = clock.now();
    first.cut();
    await clock.advance(0);
    expect(steps.at(-1)).toEqual({ state: 'failing', failure: 'read ECONNRESET', until: since + 1_200 });
    await clock.advance(1_200);
    expect(queries()[1]).toMatchObject({ resourceVersion: '8' });
    expect(steps.at(-1)).toEqual({ state: 'watching' });
    expect(sets).toHaveLength(1);
  });
});

describe('what the server has forgotten', () => {
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

  test('is read whole at once, and until then stays as it was', async () => {
    const [first, second] = [watchOf(8, object('web', 5), object('db', 6)), new ToldWatch()];
    const { clock, sets, queries, steps } = await follow(first.opened, second.opened);
    first.tell('ERROR', gone);
    await clock.advance(0);
    expect(queries()[1]).toMatchObject({ sendInitialEvents: 'true' });
    second.tell('ADDED', object('db', 30));
    await clock.advance(0);
    expect(sets).toEqual([['web@5', 'db@6']]);
    second.tell('BOOKMARK', bookmark(31, FIRST_END));
    await clock.advance(0);
    expect(sets.at(-1)).toEqual(['db@30']);
    expect(steps.filter(({ state }) => state === 'failing')).toEqual([]);
  });

  test('may also be refused instead of told', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, sets } = await follow(first.opened, refused(410, 'Expired'), watchOf(40).opened);
    first.end();
    await clock.advance(0);
    expect(sets).toEqual([['web@5'], []]);
  });
});

describe('a server that does not tell in a watch what there is at first', () => {
  const list = (version: number, ...items: readonly object[]) =>
    answered(200, { metadata: { resourceVersion: String(version) }, items });

  test('is asked for a list, and then watched from there', async () => {
    const watch = new ToldWatch();
    const { clock, sets, steps, queries } = await follow(
      refused(422, 'Invalid'),
      list(8, object('web', 5)),
      watch.opened,
    );
    expect(sets).toEqual([['web@5']]);
    watch.tell('ADDED', object('db', 9));
    await clock.advance(0);
    expect(sets.at(-1)).toEqual(['web@5', 'db@9']);
    expect(queries().slice(1)).toMatchObject([
      { fieldSelector: 'spec.nodeName=node-1', resourceVersion: '0' },
      { resourceVersion: '8', watch: 'true' },
    ]);
    expect(steps.filter(({ state }) => state === 'failing')).toEqual([]);
  });

  test('is asked for a list right away the next time; what it lists none of is null', async () => {
    const watch = new ToldWatch();
    const none = answered(200, { metadata: { resourceVersion: '50' }, items: null });
    const { clock, sets, queries } = await follow(
      ...[refused(422, 'Invalid'), list(8, object('web', 5)), watch.opened, none, new ToldWatch().opened],
    );
    watch.tell('ERROR', { code: 410, message: 'too old resource version' });
    await clock.advance(0);
    expect(queries()[3]).not.toHaveProperty('watch');
    expect(sets).toEqual([['web@5'], []]);
    expect(queries()[4]).toMatchObject({ resourceVersion: '50' });
  });
});

describe('the wait after a failure', () => {
  const waits = (steps: readonly ReflectorStep[], start: number) =>
    steps.flatMap((step) => (step.state === 'failing' ? [step.until - start] : []));

  test('doubles up to the longest', async () => {
    const { clock, steps } = await follow(...new Array(20).fill(unreachable()));
    const start = clock.now();
    await clock.advance(200_000);
    const ends = waits(steps, start).slice(0, 9);
    expect(ends.map((end, index) => end - (ends[index - 1] ?? 0))).toEqual([
      ...[1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 45_000, 45_000, 45_000],
    ]);
  });

  test('is the first again once all was well for two minutes', async () => {
    const [first, second] = [watchOf(8), new ToldWatch()];
    const { clock, steps } = await follow(unreachable(), unreachable(), first.opened, second.opened);
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
    expect(queries()[2]).toMatchObject({ sendInitialEvents: 'true' });
    expect(sets.at(-1)).toEqual([]);
  });

  test('goes before it is watched on from where it was while the server is busy or broken', async () => {
    const first = watchOf(8, object('web', 5));
    const { clock, queries } = await follow(first.opened, refused(500, 'InternalError'), refused(429, 'Busy'));
    first.end();
    await clock.advance(1_200 + 2_400);
    expect(queries().slice(1)).toMatchObject(new Array(3).fill({ resourceVersion: '8' }));
  });

  test('ends when nobody wants to hear any more', async () => {
    const { clock, controller, running, transport } = await follow(unreachable());
    controller.abort();
    await running;
    expect(clock.pending).toBe(0);
    expect(transport.requests).toHaveLength(1);
  });
});

test('a watch ends when nobody wants to hear any more, which is no failure', async () => {
  const { clock, controller, running, steps } = await follow(watchOf(8).opened);
  controller.abort();
  await running;
  expect(steps.at(-1)).toEqual({ state: 'watching' });
  expect(clock.pending).toBe(0);
});
