import { describe, expect, test } from '@jest/globals';
import { POD, toListType } from '../../kubeclient/paths.ts';
import { bookmark, FIRST_END, follow, followPrepared, object, watchOf } from '../fakes/followed.ts';
import { answered, refused, ToldWatch, unreachable } from '../fakes/toldTransport.ts';

describe('the initial objects', () => {
  test('are published as one set once all of them have arrived', async () => {
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
        fieldSelector: 'spec.nodeName=node-1',
        watch: 'true',
        allowWatchBookmarks: 'true',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        timeoutSeconds: '450',
      },
    ]);
  });

  test('include changes that arrive before the set is complete', async () => {
    const watch = new ToldWatch();
    const { heard, sets } = await follow(watch.opened);
    for (const name of ['web', 'db']) watch.tell('ADDED', object(name, 5));
    watch.tell('MODIFIED', object('web', 6));
    watch.tell('DELETED', object('db', 7));
    watch.tell('BOOKMARK', bookmark(7, FIRST_END));
    await heard();
    expect(sets).toEqual([['web@6']]);
  });

  test('may be empty', async () => {
    const { sets } = await follow(watchOf(4).opened);
    expect(sets).toEqual([[]]);
  });

  test('are requested again after a delay if the server stops before they are complete', async () => {
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
  test('publishes the complete set', async () => {
    const watch = watchOf(8, object('web', 5));
    const { clock, sets } = await follow(watch.opened);
    watch.tell('ADDED', object('db', 9));
    watch.tell('MODIFIED', object('web', 10));
    watch.tell('DELETED', object('db', 11));
    await clock.advance(0);
    expect(sets.slice(1)).toEqual([['web@5', 'db@9'], ['web@10', 'db@9'], ['web@10']]);
  });

  test('applies to the object with its UID, not to a new one with the same name', async () => {
    const watch = watchOf(8, object('web', 5, 'first'));
    const { clock, sets } = await follow(watch.opened);
    watch.tell('ADDED', object('web', 9, 'second'));
    watch.tell('DELETED', object('web', 10, 'first'));
    await clock.advance(0);
    expect(sets.at(-1)).toEqual(['web@9']);
  });
});

describe('a watch that ends', () => {
  test('continues from the last event or bookmark', async () => {
    const [first, second, third] = [watchOf(8, object('web', 5)), new ToldWatch(), new ToldWatch()];
    const { clock, sets, steps, queries } = await follow(first.opened, second.opened, third.opened);
    first.tell('MODIFIED', object('web', 9));
    await clock.advance(1_000);
    first.end();
    await clock.advance(0);
    expect(queries()[1]).toMatchObject({ resourceVersion: '9', watch: 'true', allowWatchBookmarks: 'true' });
    expect(queries()[1]).not.toHaveProperty('sendInitialEvents');
    second.tell('BOOKMARK', bookmark(20));
    await clock.advance(1_000);
    second.end();
    await clock.advance(0);
    expect(queries()[2]).toMatchObject({ resourceVersion: '20' });
    third.tell('ADDED', object('db', 21));
    await clock.advance(0);
    expect(sets).toEqual([['web@5'], ['web@9'], ['web@9', 'db@21']]);
    expect(steps.filter(({ state }) => state === 'failing')).toEqual([]);
  });

  test('immediately and without events causes a new list after a delay', async () => {
    const empty = new ToldWatch();
    empty.end();
    const first = watchOf(8);
    first.end();
    const { clock, queries, steps } = await follow(first.opened, empty.opened, watchOf(9).opened);
    await clock.advance(1_199);
    expect(queries()).toHaveLength(2);
    expect(steps.at(-1)).toMatchObject({ state: 'failing', failure: 'the watch has ended at once' });
    await clock.advance(1);
    expect(queries()[2]).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '8' });
    expect(steps.at(-1)).toEqual({ state: 'watching' });
  });

  test('early several times in a row is repeated after a delay, regardless of its events', async () => {
    const watches = [8, 9, 10, 11].map((version) => watchOf(version));
    for (const each of watches) each.end();
    const { clock, queries, steps } = await follow(...watches.map(({ opened }) => opened), watchOf(12).opened);
    await clock.advance(500);
    expect(queries().length).toBeLessThan(3);
    expect(steps.at(-1)).toMatchObject({ state: 'failing', failure: 'the watch has ended at once' });
    await clock.advance(30_000);
    expect(queries()).toHaveLength(5);
  });

  test('because the connection broke continues from there', async () => {
    const [first, second] = [watchOf(8, object('web', 5)), new ToldWatch()];
    const { clock, sets, steps, queries } = await follow(first.opened, second.opened);
    first.cut();
    await clock.advance(0);
    expect(queries()[1]).toMatchObject({ resourceVersion: '8' });
    expect(queries()[1]).not.toHaveProperty('sendInitialEvents');
    expect(steps.at(-1)).toEqual({ state: 'watching' });
    expect(sets).toHaveLength(1);
  });

  test('with the server is repeated after a delay, and the failure is reported meanwhile', async () => {
    const [first, third] = [watchOf(8, object('web', 5)), new ToldWatch()];
    const { clock, steps, queries } = await follow(first.opened, unreachable(), third.opened);
    const since = clock.now();
    first.cut();
    await clock.advance(0);
    const failure = 'connect ECONNREFUSED 127.0.0.1:6443';
    expect(steps.at(-1)).toEqual({ state: 'failing', why: 'out of reach', failure, until: since + 1_200 });
    await clock.advance(1_200);
    expect(queries()[2]).toMatchObject({ resourceVersion: '8' });
    expect(queries()[2]).not.toHaveProperty('sendInitialEvents');
    expect(steps.at(-1)).toEqual({ state: 'watching' });
  });

  test('too late is closed by the client', async () => {
    const [first, second] = [watchOf(8, object('web', 5)), new ToldWatch()];
    const { clock, steps, queries } = await follow(first.opened, second.opened);
    expect(queries()[0]).toMatchObject({ timeoutSeconds: '450' });
    await clock.advance(479_999);
    expect(queries()).toHaveLength(1);
    await clock.advance(1);
    expect(queries()[1]).toMatchObject({ resourceVersion: '8' });
    expect(steps.filter(({ state }) => state === 'failing')).toEqual([]);
  });
});

describe('a server without watch-list', () => {
  const list = (version: number, ...items: readonly object[]) =>
    answered(200, { ...toListType(POD), metadata: { resourceVersion: String(version) }, items });

  test('gets a list request and then a watch from there', async () => {
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

  test('gets a list request immediately the next time', async () => {
    const watch = new ToldWatch();
    const none = list(50);
    const { clock, sets, queries } = await follow(
      refused(422, 'Invalid'),
      list(8, object('web', 5)),
      watch.opened,
      none,
      new ToldWatch().opened,
    );
    watch.tell('ERROR', { code: 410, message: 'too old resource version' });
    await clock.advance(1_200);
    expect(queries()[3]).not.toHaveProperty('watch');
    expect(queries()[3]).toMatchObject({ resourceVersion: '8' });
    expect(sets).toEqual([['web@5'], []]);
    expect(queries()[4]).toMatchObject({ resourceVersion: '50' });
  });
});

test('a watch-list that is rejected for a different reason or ends immediately is tried again the next time', async () => {
  const list = answered(200, { ...toListType(POD), metadata: { resourceVersion: '8' }, items: [object('web', 5)] });
  const empty = new ToldWatch();
  empty.end();
  const gone = { code: 410, reason: 'Expired' };
  const [watch, next] = [new ToldWatch(), new ToldWatch()];
  const replies = [refused(403, 'Forbidden'), list, watch.opened, empty.opened, list, next.opened];
  const { clock, sets, queries } = await follow(...replies, watchOf(9).opened);
  watch.tell('ERROR', gone);
  await clock.advance(1_200);
  next.tell('ERROR', gone);
  await clock.advance(2_400);
  const kindOf = (query: object) => ('sendInitialEvents' in query ? 'all' : 'watch' in query ? 'on' : 'list');
  expect(queries().map(kindOf)).toEqual(['all', 'list', 'on', 'all', 'list', 'on', 'all']);
  expect(sets).toEqual([['web@5'], ['web@5'], []]);
});

test('a watch ends without a failure when the signal aborts', async () => {
  const { clock, controller, running, steps } = await follow(watchOf(8).opened);
  controller.abort();
  await running;
  expect(steps.at(-1)).toEqual({ state: 'watching' });
  expect(clock.pending).toBe(0);
});

describe('an object of a watch', () => {
  test('joins the set once it is prepared, and later events wait for it', async () => {
    const watch = watchOf(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { heard, sets } = await followPrepared(
      ({ metadata: { name } }) => (name === 'web' ? promise : undefined),
      watch.opened,
    );
    watch.tell('ADDED', object('web', 2));
    watch.tell('ADDED', object('db', 3));
    await heard();
    expect(sets).toEqual([[]]);
    resolve();
    await heard();
    expect(sets).toEqual([[], ['web@2'], ['web@2', 'db@3']]);
  });

  test('does not join the set if the reflector is stopped while it is prepared', async () => {
    const watch = watchOf(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { heard, sets, controller, running } = await followPrepared(() => promise, watch.opened);
    watch.tell('ADDED', object('web', 2));
    await heard();
    controller.abort();
    resolve();
    await running;
    expect(sets).toEqual([[]]);
  });
});
