import { expect, test } from '@jest/globals';
import { SettingsCache } from '../../../../host/cgroup/usage/seldom.ts';

function seen() {
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

test('is looked at once a minute, each of a cgroup by itself', () => {
  const { time, look } = seen();
  expect(look()).toBe(1);
  expect(look('pod', 'other')).toBe(2);
  expect(look('another')).toBe(3);
  time.now += 59_999;
  expect(look()).toBe(1);
  time.now += 1;
  expect(look()).toBe(4);
});

test('that there is nothing is something that was seen', () => {
  const { seldom } = seen();
  let looks = 0;
  const look = () => {
    looks += 1;
    return undefined;
  };
  for (let at = 0; at < 2; at += 1) expect(seldom.forCgroup('pod')('limit', look)).toBeUndefined();
  expect(looks).toBe(1);
});

test('is looked at again once it is forgotten, or the time of day was set back', () => {
  const { time, seldom, look } = seen();
  look();
  seldom.forget('pod');
  expect(look()).toBe(2);
  time.now -= 10_000;
  expect(look()).toBe(3);
});

test('is not kept of cgroups that nobody asks for any more', () => {
  const { time, seldom, look } = seen();
  for (let at = 0; at < 1_000; at += 1) look(`pod-${at}`);
  time.now += 60_000;
  look();
  expect(seldom.size).toBe(1);
});
