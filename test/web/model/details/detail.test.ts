import { expect, test } from '@jest/globals';
import type { ActorDetail, Frame } from '../../../../inspect/protocol.ts';
import { detailOf, earlierDetailOf, followDetail } from '../../../../web/model/details/detail.ts';
import { goToTime, select } from '../../../../web/model/navigation/actions.ts';
import { followSelection } from '../../../../web/model/navigation/selection.ts';
import { withFrame } from '../../../../web/model/server/world.ts';
import { API, actor, apiDetail, apiHistory, NOW } from '../../support/nodeOnPage.ts';
import { pageModel, until } from '../../support/pageModel.ts';

function follows(answer?: (path: string) => Promise<ActorDetail>, isSeen = false) {
  const requests: string[] = [];
  const rests: (() => void)[] = [];
  const detail = async (path: string, at?: number) => {
    requests.push(at === undefined ? path : `${path} ${NOW - at}ms ago`);
    return answer ? answer(path) : { ...apiDetail, path };
  };
  const { page } = pageModel({ url: '/pod/shop/checkout-api/container/api', detail });
  followSelection(page, () => undefined);
  const leave = followDetail(page, { setTimeout: (after) => rests.push(after), areDetailsVisible: () => isSeen });
  const change = (path: string) => {
    const frame: Frame = { at: NOW, pods: [], podsGone: [], actorsGone: [], lines: [], actors: [] };
    const before = page.world.value.actors.get(path) ?? actor({ path });
    page.live.value = withFrame(page.live.value, { ...frame, actors: [{ ...before, facts: ['changed'] }] });
  };
  /** Lets half a second pass. */
  const rest = async () => {
    for (const each of rests.splice(0)) each();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return { page, requests, change, rest, leave };
}

test('the details of an actor are requested when it is selected or an actor of its pod has changed, at most every half second', async () => {
  const { page, requests, change, rest } = follows();
  await until(() => page.detail.value !== undefined);
  change('pod/uid-checkout-api/container/proxy');
  change('pod/uid-checkout-api/container/api');
  expect(requests).toEqual([API]);
  await rest();
  expect(requests).toEqual([API, API]);
  await rest();
  change('pod/uid-auth');
  expect(requests).toEqual([API, API]);
});

test('the details are requested at once for a new selection, and a late response is ignored', async () => {
  const late: (() => void)[] = [];
  const { page, requests } = follows(
    (path) => new Promise((resolve) => late.push(() => resolve({ ...apiDetail, path }))),
  );
  select(page, 'pod/uid-auth');
  expect(requests).toEqual([API, 'pod/uid-auth']);
  late[0]?.();
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect(page.detail.value).toBeUndefined();
  late[1]?.();
  await until(() => page.detail.value?.path === 'pod/uid-auth');
});

test('the details show the answer before the history, whose runs and transitions are added later', async () => {
  let read: (() => void) | undefined;
  const { page } = pageModel({
    url: '/pod/shop/checkout-api/container/api',
    actorHistory: (path) => new Promise((resolve) => (read = () => resolve({ ...apiHistory, path }))),
  });
  followSelection(page, () => undefined);
  followDetail(page, { setTimeout: () => {}, areDetailsVisible: () => false });
  await until(() => page.detail.value !== undefined);
  const known = earlierDetailOf(page, API);
  expect([known?.answer, known?.tried, known?.taken]).toEqual([apiDetail.answer, undefined, undefined]);
  read?.();
  await until(() => page.actorHistory.value !== undefined);
  expect(earlierDetailOf(page, API)).toMatchObject({ answer: apiDetail.answer, tried: apiHistory.tried });
});

test('the details are requested for the displayed time, but not during a drag on the rail', async () => {
  const { page, requests, rest } = follows();
  await rest();
  goToTime(page, NOW - 5_000, { isMoving: true });
  await until(() => page.past.value !== undefined);
  expect(requests).toEqual([API]);
  goToTime(page, NOW - 5_000);
  expect(requests).toEqual([API, `${API} 5000ms ago`]);
});

test('a failure to load the details is reported until a retry succeeds', async () => {
  let isAway = true;
  const { page, requests, rest } = follows(async (path) => {
    if (isAway) throw new Error('the agent is away');
    return { ...apiDetail, path };
  });
  await until(() => page.detailError.value?.message === 'the agent is away');
  await rest();
  expect(requests).toHaveLength(1);
  isAway = false;
  page.detailRetries.value += 1;
  await until(() => page.detail.value !== undefined);
  expect(page.detailError.value).toBeUndefined();
});

test('the details are not requested after the subscription has ended', async () => {
  const { requests, change, rest, leave } = follows();
  leave();
  await rest();
  change(API);
  expect(requests).toEqual([API]);
});

test('the details are requested every five seconds while the log and the events are visible, because they change without transitions', async () => {
  for (const isSeen of [true, false]) {
    const { page, requests, rest } = follows(undefined, isSeen);
    await rest();
    page.browserTime.value = NOW + 1_000;
    page.browserTime.value = NOW + 5_000;
    await rest();
    expect(requests).toHaveLength(isSeen ? 2 : 1);
    goToTime(page, NOW - 5_000);
    await until(() => page.past.value !== undefined);
    const before = requests.length;
    page.browserTime.value = NOW + 60_000;
    await rest();
    expect(requests.length - before).toBe(0);
  }
});

test('a failure belongs to the actor of the request', async () => {
  const { page } = follows(async () => Promise.reject(new Error('away')));
  await until(() => page.detailError.value !== undefined);
  expect(page.detailError.value).toEqual({ path: API, message: 'away' });
});

test('the details are only shown for the time that they belong to', async () => {
  const { page } = follows();
  await until(() => page.detail.value !== undefined);
  const api = actor({ ...page.world.value.actors.get(API), path: API, since: NOW - 1_000 });
  expect(detailOf(page, api)?.answer).toBe(apiDetail.answer);
  expect(detailOf(page, { ...api, since: NOW + 1 })).toBeUndefined();
  expect(detailOf(page, { ...api, path: 'pod/uid-auth' })).toBeUndefined();
  expect(earlierDetailOf(page, API)?.answer).toBe(apiDetail.answer);
  expect(earlierDetailOf(page, 'pod/uid-auth')).toBeUndefined();
  goToTime(page, NOW - 500, { isMoving: true });
  await until(() => page.past.value !== undefined);
  expect(detailOf(page, api)).toBeUndefined();
  expect(earlierDetailOf(page, API)).toBeUndefined();
});
