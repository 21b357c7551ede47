import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { type FailureReason, messageOf, NodeFailure, toFailure } from '../../base/failure.ts';
import type { RefusalReason } from '../../kubernetes/admission/refusal.ts';
import type { RunReason } from '../../kubernetes/lifecycle/restart.ts';
import type { TerminationReason, WaitReason } from '../../kubernetes/status/view.ts';

/** Compiles only if the type accepts a fixed set of reasons, and not any string. */
type Closed<Reason extends string> = string extends Reason ? never : 'Misspelt' extends Reason ? never : true;

test('rejects a misspelt failure reason at compile time', () => {
  const closed: [
    Closed<FailureReason>,
    Closed<TerminationReason>,
    Closed<RunReason>,
    Closed<WaitReason>,
    Closed<RefusalReason>,
    Closed<NodeFailure['reason']>,
  ] = [true, true, true, true, true, true];
  expect(closed).not.toContain(false);
});

test('preserves the reason of a failure, and uses the fallback or InternalError for other errors', () => {
  expect(toFailure(new NodeFailure('FailedMount', 'no such directory'), 7)).toEqual({
    reason: 'FailedMount',
    message: 'no such directory',
    at: 7,
  });
  expect(toFailure(new Error('oh'), 7)).toEqual({ reason: 'InternalError', message: 'oh', at: 7 });
  expect(toFailure('oh', 7, 'FailedRead')).toEqual({ reason: 'FailedRead', message: 'oh', at: 7 });
});

test('finds the message of an error by shape, because each realm has its own class', () => {
  expect(messageOf(runInNewContext("new Error('elsewhere')"))).toBe('elsewhere');
  expect(messageOf(null)).toBe('null');
});
