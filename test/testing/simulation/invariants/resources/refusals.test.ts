import { expect, test } from '@jest/globals';
import type { PodChange } from '../../../../../actors/status/statusBoard.ts';
import type { Pod } from '../../../../../kubernetes/api/schema/pod.ts';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { Refusals } from '../../../../../testing/simulation/invariants/resources/refusals.ts';

/** Creates a node with four cores, and pods that request some of them or a port of the host. */
function watchedNode() {
  const clock = { elapsed: 0 };
  const running: { podUid: string }[] = [];
  const capacity = { cpuMillis: 4_000, memoryBytes: 1_000, pods: 3 };
  const refusals = new Refusals({ host: { clock, running: () => running }, capacity } as unknown as Watched);
  const pod = (uid: string, cpu: string, status: object = { phase: 'Running' }, hostPort?: number): Pod =>
    ({
      metadata: { uid, namespace: 'default', name: uid },
      spec: { containers: [{ name: 'main', resources: { requests: { cpu } }, ports: hostPort ? [{ hostPort }] : [] }] },
      status,
    }) as unknown as Pod;
  const report = (reported: Pod, removed = false) =>
    refusals.noteStatus({ uid: reported.metadata.uid, removed, pod: reported } as unknown as PodChange);
  return { clock, running, refusals, pod, report };
}

const refusedFor = (reason: string) => ({ phase: 'Failed', reason, message: 'Pod was rejected: no' });

test('a rejection requires a shortage of the resource, given all requests up to then', () => {
  const { refusals, pod, report } = watchedNode();
  const refused = pod('refused', '2', refusedFor('OutOfcpu'));
  report(pod('first', '2'));
  report(refused);
  expect(refusals.explain(refused)).toBe(false);
  // A decrease of the requests must come first.
  report(pod('second', '1'));
  report(pod('second', '500m'));
  expect(refusals.explain(refused)).toBe(true);
  expect(refusals.explain(pod('first', '2'))).toBe(false);
});

test('the requests of a terminated pod count while it runs, and those of a rejected pod never count', () => {
  const { clock, running, refusals, pod, report } = watchedNode();
  report(pod('over', '3'));
  report(pod('over', '3', { phase: 'Failed' }));
  running.push({ podUid: 'over' });
  clock.elapsed = 70_000;
  const refused = pod('refused', '2', refusedFor('UnexpectedAdmissionError'));
  report(refused);
  expect(refusals.explain(refused)).toBe(true);
  running.pop();
  expect(refusals.explain(refused)).toBe(false);
  report(pod('other', '2', refusedFor('OutOfcpu')));
  expect(refusals.explain(refused)).toBe(false);
});

test('a rejection for a host port requires that the port is taken, and other reasons follow from the manifest', () => {
  const { refusals, pod, report } = watchedNode();
  const refused = pod('refused', '1', refusedFor('NodePorts'), 80);
  report(refused);
  expect(refusals.explain(refused)).toBe(false);
  report(pod('server', '1', { phase: 'Running' }, 80));
  expect(refusals.explain(refused)).toBe(true);
  const odd = pod('odd', '1', refusedFor('SysctlForbidden'));
  report(odd);
  expect(refusals.explain(odd)).toBe(true);
});
