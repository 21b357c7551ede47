import { expect, test } from '@jest/globals';
import type { RecordingLine } from '../../recording/lines.ts';
import { PendingLines } from '../../recording/pending.ts';

const READINESS = 'pod/u/container/web/probe/readiness';

/** Returns the number of failures that the next member counts, if each line is written separately. */
function failuresOf(lines: readonly RecordingLine[]): number[] {
  const pending = new PendingLines();
  return lines.map((line) => {
    pending.add(line);
    return pending.take()?.failures ?? 0;
  });
}

const tried = (result: string, probe = READINESS): RecordingLine => ({
  kind: 'answer',
  at: 1,
  actor: `${probe}/0.probe.failing.probing`,
  source: 'runProbe',
  value: { result, message: '' },
});

const warning = (reason: string): RecordingLine => ({
  kind: 'event',
  at: 1,
  eventType: 'Warning',
  reason,
  message: 'said',
  involved: { kind: 'Pod', namespace: 'default', name: 'web', uid: 'u', apiVersion: 'v1' },
});

test('a probe that fails repeatedly is one failure, until it has succeeded and fails again', () => {
  const tries = ['failure', 'failure', 'error', 'warning', 'failure', 'success', 'success', 'failure', 'failure'];
  expect(failuresOf(tries.map((result) => tried(result)))).toEqual([1, 0, 0, 0, 0, 0, 0, 1, 0]);
  const other = READINESS.replace('web', 'other');
  expect(failuresOf([tried('failure'), tried('failure', other), tried('failure')])).toEqual([1, 1, 0]);
  const refused: RecordingLine = {
    kind: 'failure',
    at: 1,
    actor: `${READINESS}/0.probe`,
    source: 'runProbe',
    value: {},
  };
  expect(failuresOf([refused, refused, tried('failure')])).toEqual([1, 0, 0]);
});

test('events of a probe are not counted as failures, but those of anything else are, each time', () => {
  const mount: RecordingLine = {
    kind: 'failure',
    at: 1,
    actor: 'pod/u/volume/x/0.volume',
    source: 'mountVolume',
    value: {},
  };
  expect(failuresOf([warning('Unhealthy'), warning('BackOff'), warning('BackOff'), mount, mount])).toEqual([
    0, 1, 1, 1, 1,
  ]);
});
