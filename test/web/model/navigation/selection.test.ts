import { describe, expect, test } from '@jest/globals';
import { worstPath } from '../../../../web/model/actors/tree.ts';
import { subjectOf } from '../../../../web/model/details/headline.ts';
import { applyLocation, select } from '../../../../web/model/navigation/actions.ts';
import { parseLocation } from '../../../../web/model/navigation/pageLocation.ts';
import { followSelection, locationSteps, nearestPath, pathAt } from '../../../../web/model/navigation/selection.ts';
import { withFrame, worldOf } from '../../../../web/model/server/world.ts';
import { API, designSnapshot, NOW, podOnPage, snapshotWith, wellPod } from '../../support/nodeOnPage.ts';
import { pageModel } from '../../support/pageModel.ts';

const world = worldOf(designSnapshot);
const at = (url: string, of = world) => pathAt(of, parseLocation(new URL(url, 'http://page')));

describe('a location selects', () => {
  test.each([
    ['/pod/shop/checkout-api', 'pod/uid-checkout-api'],
    ['/pod/shop/checkout-api-node-1', 'pod/uid-checkout-api'],
    ['/pod/shop/checkout-api/container/proxy/probe/readiness', 'pod/uid-checkout-api/container/proxy/probe/readiness'],
    ['/node/startLimiter', 'startLimiter'],
    ['/node', ''],
    ['/pod/web/checkout-api', undefined],
    ['/pod/shop/checkout-api/container/gone', undefined],
    ['/', undefined],
  ])('%s', (url, path) => {
    expect(at(url)).toBe(path);
  });

  test('and its actor has the same location', () => {
    for (const path of ['', 'startLimiter', API, 'pod/uid-checkout-api']) {
      const { steps } = locationSteps(world, path);
      expect(at(`/${steps.map(encodeURIComponent).join('/')}`)).toBe(path);
    }
    expect(locationSteps(world, API)).toEqual({
      steps: ['pod', 'shop', 'checkout-api', 'container', 'api'],
      uid: undefined,
    });
  });

  test('the pod with the UID in the URL if several have the name', () => {
    const old = podOnPage({ name: 'old', pod: { name: 'web-node-1' } });
    const twins = worldOf(snapshotWith([old, wellPod('web')]));
    expect(at('/pod/shop/web', twins)).toBe('pod/uid-web');
    expect(at('/pod/shop/web?uid=uid-old', twins)).toBe('pod/uid-old');
    expect(locationSteps(twins, 'pod/uid-web').uid).toBe('uid-web');
    expect(locationSteps(twins, 'pod/uid-old')).toEqual({ steps: ['pod', 'shop', 'web-node-1'], uid: 'uid-old' });
  });

  test('a static pod and a pod with a colliding name by unambiguous names', () => {
    const other = podOnPage({ name: 'plain', pod: { name: 'web', isStatic: false } });
    const both = worldOf(snapshotWith([wellPod('web'), other]));
    expect(locationSteps(both, 'pod/uid-web').steps).toEqual(['pod', 'shop', 'web-node-1']);
    expect(locationSteps(both, 'pod/uid-plain').steps).toEqual(['pod', 'shop', 'web']);
  });
});

describe('a location of no actor is similar to', () => {
  const near = (url: string) => nearestPath(world, parseLocation(new URL(url, 'http://page')));
  test.each([
    ['/pod/shop/checkout-ap/container/apii', API],
    ['/pod/shpo/checkout-api/container/api', API],
    ['/pod/shop/chekout-api-node-1', 'pod/uid-checkout-api'],
    ['/pod/default/checkout-api/container/api', API],
    ['/pod/shop/checkout-api/container/quite-different', 'pod/uid-checkout-api'],
    ['/pod/shop/checkout-api/container/proxy/probe/readyness', 'pod/uid-checkout-api/container/proxy/probe/readiness'],
    ['/pod/shop/checkout-api/containers/proxy', 'pod/uid-checkout-api/container/proxy'],
    ['/node/startLimitr', 'startLimiter'],
    ['/pod/shop/nothing-like-it', undefined],
    ['/node/nothing-like-it', undefined],
    ['/pod', undefined],
    ['/constructor/__proto__/x', undefined],
  ])('%s', (url, path) => {
    expect(near(url)).toBe(path);
  });
});

describe('the selection', () => {
  test('without a path is the container with the most severe state, and does not change afterwards', () => {
    const { page } = pageModel();
    followSelection(page, worstPath);
    expect(page.selectedPath.value).toBe('pod/uid-thumbs/container/main');
    const well = { id: 'container/a', state: 'running.steady' };
    const ill = { id: 'container/b', tags: ['failed'] };
    const probed = { id: 'container/b/probe/readiness', tags: ['failing'] };
    const worstOf = (...pods: readonly ReturnType<typeof podOnPage>[]) => worstPath(worldOf(snapshotWith(pods)));
    expect(worstOf(podOnPage({ name: 'web', below: [well, ill] }))).toBe('pod/uid-web/container/b');
    expect(worstOf(podOnPage({ name: 'web', below: [well, { ...well, id: 'container/b' }, probed] }))).toBe(
      'pod/uid-web/container/b',
    );
    expect(worstOf(podOnPage({ name: 'web', below: [well, { ...well, id: 'container/b' }] }))).toBe(
      'pod/uid-web/container/a',
    );
    expect(worstOf(podOnPage({ name: 'web', tree: { tags: ['failed'] } }))).toBe('pod/uid-web');
    expect(worstOf()).toBeUndefined();
    const broken = podOnPage({ name: 'auth', tree: { tags: ['broken'] } });
    const frame = { at: NOW + 1, pods: [], podsGone: [], actorsGone: [], lines: [], actors: broken.actors };
    page.live.value = withFrame(page.live.value, frame);
    expect(worstPath(page.world.value)).toBe('pod/uid-auth');
    expect(page.selectedPath.value).toBe('pod/uid-thumbs/container/main');
  });

  test('is empty on a node without pods', () => {
    const { page } = pageModel({ first: snapshotWith([]) });
    followSelection(page, worstPath);
    expect(page.selectedPath.value).toBeUndefined();
    page.live.value = worldOf(snapshotWith([wellPod('web')]));
    expect(page.selectedPath.value).toBe('pod/uid-web/container/main');
  });

  test('adds a history entry, and Back returns to the previous one', () => {
    const { page, written } = pageModel({ url: '/pod/shop/auth' });
    followSelection(page, worstPath);
    select(page, API);
    select(page, API);
    expect(written).toEqual(['push /pod/shop/checkout-api/container/api']);
    expect(page.selectedPath.value).toBe(API);
    applyLocation(page, parseLocation(new URL('/pod/shop/auth', 'http://page')));
    expect(page.selectedPath.value).toBe('pod/uid-auth');
  });

  test('stays with its last known state after its actor is gone', () => {
    const { page } = pageModel({ url: '/pod/shop/auth' });
    followSelection(page, worstPath);
    const frame = { at: NOW + 5_000, pods: [], podsGone: ['uid-auth'], actors: [], lines: [] };
    page.live.value = withFrame(page.live.value, {
      ...frame,
      actorsGone: ['pod/uid-auth', 'pod/uid-auth/container/main'],
    });
    expect(page.selectedPath.value).toBe('pod/uid-auth');
    expect(page.lastKnown.value).toMatchObject({
      at: NOW,
      pod: { name: 'auth-node-1' },
      actor: { path: 'pod/uid-auth' },
    });
  });

  test('follows the name when the pod is recreated with a different UID', () => {
    const { page } = pageModel({ url: '/pod/shop/auth', first: snapshotWith([wellPod('auth')]) });
    followSelection(page, worstPath);
    const made = podOnPage({ name: 'auth2', pod: { name: 'auth-node-1' } });
    page.live.value = worldOf(snapshotWith([made]));
    expect(page.selectedPath.value).toBe('pod/uid-auth2');
  });

  test('reached with Back stays on a deleted actor', () => {
    const { page } = pageModel({ url: '/pod/shop/auth' });
    followSelection(page, worstPath);
    select(page, API);
    page.live.value = withFrame(page.live.value, goneOf('auth'));
    applyLocation(page, placeAt('/pod/shop/auth'));
    expect(page.selectedPath.value).toBe('pod/uid-auth');
    expect(subjectOf(page)).toMatchObject({ isDeleted: true, actor: { path: 'pod/uid-auth' }, at: NOW });
    applyLocation(page, placeAt('/pod/shop/never-there'));
    expect(page.selectedPath.value).toBeUndefined();
    expect(subjectOf(page)).toBeUndefined();
  });

  test('is not taken over by a pod with the same name, and the URL distinguishes them', () => {
    const { page, written } = pageModel({ url: '/pod/shop/auth' });
    followSelection(page, worstPath);
    const edited = podOnPage({ name: 'auth2', pod: { name: 'auth-node-1' } });
    const frame = { at: NOW + 1, podsGone: [], actorsGone: [], lines: [] };
    page.live.value = withFrame(page.live.value, { ...frame, pods: [edited.pod], actors: edited.actors });
    expect(page.selectedPath.value).toBe('pod/uid-auth');
    expect(written).toEqual(['replace /pod/shop/auth-node-1?uid=uid-auth']);
    select(page, 'pod/uid-auth2');
    expect(page.selectedPath.value).toBe('pod/uid-auth2');
    expect(written.at(-1)).toBe('push /pod/shop/auth-node-1?uid=uid-auth2');
    page.live.value = withFrame(page.live.value, goneOf('auth'));
    expect(page.selectedPath.value).toBe('pod/uid-auth2');
  });
});

const placeAt = (url: string) => parseLocation(new URL(url, 'http://page'));
const goneOf = (name: string) => ({
  at: NOW + 5_000,
  pods: [],
  podsGone: [`uid-${name}`],
  actors: [],
  lines: [],
  actorsGone: [`pod/uid-${name}`, `pod/uid-${name}/container/main`],
});
