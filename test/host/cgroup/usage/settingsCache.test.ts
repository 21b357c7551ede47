import { expect, test } from '@jest/globals';
import { SettingsCache } from '../../../../host/cgroup/usage/settingsCache.ts';

function cache() {
  const time = { now: 1_000_000 };
  const seldom = new SettingsCache(() => time.now);
  let looks = 0;
  const look = (path = 'pod', what = 'limit') =>
    seldom.forCgroup(path)(what, () => {
      looks += 1;
      return looks;
    });
  return { time, seldom, look };
}

test('reads once a minute, separately for each cgroup', () => {
  const { time, look } = cache();
  expect(look()).toBe(1);
  expect(look('pod', 'other')).toBe(2);
  expect(look('another')).toBe(3);
  time.now += 59_999;
  expect(look()).toBe(1);
  time.now += 1;
  expect(look()).toBe(4);
});

test('caches the absence of a value', () => {
  const { seldom } = cache();
  let looks = 0;
  const look = () => {
    looks += 1;
    return undefined;
  };
  for (let at = 0; at < 2; at += 1) expect(seldom.forCgroup('pod')('limit', look)).toBeUndefined();
  expect(looks).toBe(1);
});

test('reads again after it is forgotten or the clock is set back', () => {
  const { time, seldom, look } = cache();
  look();
  seldom.forget('pod');
  expect(look()).toBe(2);
  time.now -= 10_000;
  expect(look()).toBe(3);
});

test('drops cgroups that are no longer read', () => {
  const { time, seldom, look } = cache();
  for (let at = 0; at < 1_000; at += 1) look(`pod-${at}`);
  time.now += 60_000;
  look();
  expect(seldom.size).toBe(1);
});
