import { expect, test } from '@jest/globals';
import type { PodRequests } from '../../../kubernetes/resources/requests.ts';
import type { AdmissionResult } from '../../../machines/shared/events/events.ts';
import { aPod, requestsWith } from '../../kubernetes/fixtures.ts';
import { admission, asker } from '../support/stand.ts';

const http = { port: 80, protocol: 'TCP', hostIp: '' } as const;

/** Creates the admission of a node with two cores. */
function twoCores() {
  const of = admission({ cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 3 });
  const ask = (uid: string, cpuMillis: number, more: Partial<PodRequests> & { readonly isOver?: boolean } = {}) => {
    const { isOver: isFinished = false, ...requested } = more;
    const { holder, heard } = asker<AdmissionResult>(of);
    const requests = requestsWith({ cpuMillis, ...requested });
    const names = { uid, fullName: `default/${uid}`, pod: aPod() };
    of.send({ type: 'admission.request', ...names, requests, isAdopted: isFinished, isFinished, holder });
    return () => heard().map((answer) => ('reason' in answer ? answer.reason : 'admitted'));
  };
  return { of, ask };
}

test('C9: a pod waits for the resources of a pod that no source wants any more, instead of being rejected', () => {
  const { of, ask } = twoCores();
  ask('old', 1_740);
  of.send({ type: 'admission.leave', uid: 'old' });
  const next = ask('new', 500);
  expect(next()).toEqual([]);
  of.send({ type: 'admission.containersStopped', uid: 'old' });
  expect(next()).toEqual(['admitted']);
});

test('C9: the resources of a pod are released when its containers have stopped, and its host ports when its sandbox has', () => {
  const { of, ask } = twoCores();
  ask('old', 1_740, { hostPorts: [http] });
  of.send({ type: 'admission.containersStopped', uid: 'old' });
  expect(ask('other', 500)()).toEqual(['admitted']);
  const next = ask('new', 500, { hostPorts: [http] });
  expect(next()).toEqual([]);
  of.send({ type: 'admission.releaseResources', uid: 'old' });
  expect(next()).toEqual(['admitted']);
});

test('C9: a pod without anything left to run, found by a new agent, does not cause rejections', () => {
  const { of, ask } = twoCores();
  expect(ask('completed', 1_740, { isOver: true })()).toEqual(['admitted']);
  const next = ask('new', 500);
  expect(next()).toEqual([]);
  of.send({ type: 'admission.containersStopped', uid: 'completed' });
  expect(next()).toEqual(['admitted']);
});

test('C9: a pod that does not fit beside the remaining pods is rejected at once', () => {
  const { of, ask } = twoCores();
  ask('old', 500);
  ask('staying', 1_000);
  of.send({ type: 'admission.leave', uid: 'old' });
  expect(ask('new', 1_500)()).toEqual(['OutOfcpu']);
});

test('a pod that leaves while it waits for admission is not admitted', () => {
  const { of, ask } = twoCores();
  ask('old', 2_000);
  of.send({ type: 'admission.leave', uid: 'old' });
  const next = ask('new', 500);
  of.send({ type: 'admission.leave', uid: 'new' });
  of.send({ type: 'admission.releaseResources', uid: 'old' });
  expect(next()).toEqual([]);
});
