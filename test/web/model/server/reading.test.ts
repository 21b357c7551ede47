import { expect, test } from '@jest/globals';
import type { Frame } from '../../../../inspect/protocol.ts';
import { goToTime, select, toggleFreeze } from '../../../../web/model/navigation/actions.ts';
import { followSelection } from '../../../../web/model/navigation/selection.ts';
import { areDetailsVisible, createReadingState, followObject } from '../../../../web/model/server/reading.ts';
import { withFrame } from '../../../../web/model/server/world.ts';
import { checkoutObject, NOW } from '../../support/nodeOnPage.ts';
import { pageModel, until } from '../../support/pageModel.ts';

/** Creates a page with an open manifest. `rest` advances the time by half a second. */
function reads() {
  const requests: string[] = [];
  const rests: (() => void)[] = [];
  const answers: { resolve: (phase: string) => void; reject: (error: Error) => void }[] = [];
  const { page } = pageModel({ url: '/pod/shop/checkout-api' });
  page.client.object = (uid, at) => {
    requests.push(at === undefined ? uid : `${uid} ${NOW - at}ms ago`);
    return new Promise((resolve, reject) =>
      answers.push({ resolve: (phase) => resolve({ ...checkoutObject, status: { phase } }), reject }),
    );
  };
  const reading = createReadingState();
  reading.whyTab.value = 'manifest';
  followSelection(page, () => undefined);
  followObject(page, reading, { setTimeout: (after) => rests.push(after) });
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const answer = async (phase: string) => {
    answers.shift()?.resolve(phase);
    await turns();
  };
  const fail = async (why: string) => {
    answers.shift()?.reject(new Error(why));
    await turns();
  };
  const rest = async () => {
    rests.shift()?.();
    await turns();
  };
  const change = (frame: Partial<Frame>) => {
    const empty = { at: NOW + 1, pods: [], podsGone: [], actors: [], actorsGone: [], lines: [] };
    page.live.value = withFrame(page.live.value, { ...empty, ...frame });
  };
  const restart = () => {
    const pod = page.live.value.pods.get('uid-checkout-api');
    if (pod) change({ pods: [{ ...pod, restarts: pod.restarts + 1 }] });
  };
  const phase = () => (reading.object.value?.content?.status as { phase?: string } | undefined)?.phase;
  return { page, reading, requests, answer, fail, rest, change, restart, phase };
}

test('a pod’s object is reloaded after a change, and the previous one stays until then', async () => {
  const { requests, answer, rest, restart, phase } = reads();
  await answer('Pending');
  restart();
  restart();
  expect(requests).toEqual(['uid-checkout-api']);
  await rest();
  expect([requests.length, phase()]).toEqual([2, 'Pending']);
  await answer('Running');
  expect(phase()).toBe('Running');
  await rest();
  expect(requests).toHaveLength(2);
});

test('the object belongs to the displayed time', async () => {
  const { page, requests, answer, rest, restart } = reads();
  await answer('Running');
  toggleFreeze(page);
  await rest();
  restart();
  await answer('Running');
  await rest();
  goToTime(page, NOW - 5_000);
  await until(() => page.past.value !== undefined);
  expect(requests).toEqual(['uid-checkout-api', 'uid-checkout-api 0ms ago', 'uid-checkout-api 5000ms ago']);
});

test('a deleted pod has its last known object', async () => {
  const { page, requests, answer, rest, change, phase } = reads();
  await answer('Running');
  await rest();
  change({ podsGone: ['uid-checkout-api'], actorsGone: ['pod/uid-checkout-api'] });
  expect([requests.length, phase(), page.selectedPath.value]).toEqual([1, 'Running', 'pod/uid-checkout-api']);
});

test('a failure is reported and can be retried', async () => {
  const { reading, requests, answer, fail, rest, phase } = reads();
  await fail('away');
  expect(reading.object.value).toEqual({ uid: 'uid-checkout-api', error: 'away' });
  await rest();
  expect(requests).toHaveLength(1);
  reading.objectRetries.value += 1;
  await answer('Running');
  expect([phase(), reading.object.value?.error]).toEqual(['Running', undefined]);
});

test('only visible objects are requested, and only the selected pod is shown', async () => {
  const { page, reading, requests, answer, rest } = reads();
  select(page, 'pod/uid-auth');
  await answer('Running');
  expect(reading.object.value?.content).toBeUndefined();
  expect(areDetailsVisible(reading, page)).toBe(false);
  reading.whyTab.value = 'why';
  await rest();
  expect([requests, areDetailsVisible(reading, page)]).toEqual([['uid-checkout-api'], true]);
});
