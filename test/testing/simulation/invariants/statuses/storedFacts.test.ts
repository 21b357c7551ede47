import { expect, test } from '@jest/globals';
import type { PodStatus } from '../../../../../kubernetes/api/schema/status.ts';
import { watchedNode } from '../watchedNode.ts';

test('a terminal status that an earlier agent left unreported is not compared with what the next agent observes', async () => {
  const { node, status, report, leaveEnd, violations, nextLife } = await watchedNode();
  const since = (lastTransitionTime: string): Partial<PodStatus> => ({
    phase: 'Failed',
    conditions: [{ type: 'Initialized', status: 'True', lastTransitionTime }],
  });
  const back = 'condition Initialized: True of 2026-01-01T00:00:09Z became True of 2026-01-01T00:00:05Z';
  const tell = () => {
    for (const time of ['2026-01-01T00:00:09Z', '2026-01-01T00:00:05Z']) report(since(time));
    return violations();
  };
  report({ ...status, ...since('2026-01-01T00:00:01Z') });
  const left = await leaveEnd();
  nextLife();
  expect(tell()).toEqual([]);
  expect(tell()).toEqual([back]);
  await node.host.files.rm(left);
  nextLife();
  expect(tell()).toEqual([back]);
  node.kill();
});

test('a pod whose terminal status was left unreported is gone, even if another pod preceded it', async () => {
  const { node, report, remove, leaveEnd, violations, nextLife } = await watchedNode();
  report({ phase: 'Failed' });
  remove();
  remove();
  await leaveEnd();
  nextLife();
  report({ phase: 'Failed', startTime: '2026-01-01T00:00:20Z' });
  const startTime = '2026-01-01T00:00:40Z';
  for (const phase of ['Pending', 'Failed', 'Pending'] as const) report({ phase, startTime });
  expect(violations()).toEqual(['phase Failed became Pending']);
  node.kill();
});

test('a pod that was reported only by a leftover terminal status is gone, unless it completed by itself', async () => {
  for (const isFinal of [false, true]) {
    const { node, report, leaveEnd, violations, nextLife } = await watchedNode();
    await leaveEnd({ isFinal });
    nextLife();
    report({ phase: 'Failed' });
    const startTime = '2026-01-01T00:00:40Z';
    report({ phase: 'Pending', startTime });
    expect(violations()).toEqual(isFinal ? ['phase Failed became Pending'] : []);
    for (const phase of ['Failed', 'Pending'] as const) report({ phase, startTime });
    expect(violations()).toEqual(['phase Failed became Pending']);
    node.kill();
  }
});

test('a pod that continues is not gone because of a leftover terminal status of an earlier pod with its UID', async () => {
  const { node, report, leaveEnd, violations, nextLife } = await watchedNode();
  await leaveEnd();
  nextLife();
  for (const phase of ['Running', 'Failed', 'Pending'] as const) report({ phase });
  expect(violations()).toEqual(['phase Failed became Pending']);
  node.kill();
});

test('a leftover terminal status is removed from disk once it is reported, and may be reported again', async () => {
  const { node, hooks, report, leaveEnd, violations, restart } = await watchedNode();
  const left = await leaveEnd();
  restart();
  hooks.onAgentStarted?.();
  report({});
  report({ phase: 'Failed' });
  await node.host.files.rm(left, {});
  report({ phase: 'Failed' });
  expect(violations()).toEqual([]);
  report({ phase: 'Failed', message: 'another' });
  expect(violations()).toEqual(['its terminal status was reported before it was on disk']);
  node.kill();
});
