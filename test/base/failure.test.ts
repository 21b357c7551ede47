import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { type FailureReason, messageOf, NodeFailure, toFailure } from '../../base/failure.ts';
import type { RefusalReason } from '../../kubernetes/admission/refusal.ts';
import type { RunReason } from '../../kubernetes/lifecycle/restart.ts';
import type { TerminationReason, WaitReason } from '../../kubernetes/status/view.ts';

/** Compiles only where any string would not do. */
type Closed<Reason extends string> = string extends Reason ? never : 'Misspelt' extends Reason ? never : true;

test('reasons by which something is decided are closed: one that is misspelt does not compile', () => {
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

test('a failure keeps its reason; any other error is the fallback, or an internal one', () => {
  expect(toFailure(new NodeFailure('FailedMount', 'no such directory'), 7)).toEqual({
    reason: 'FailedMount',
    message: 'no such directory',
    at: 7,
  });
  expect(toFailure(new Error('oh'), 7)).toEqual({ reason: 'InternalError', message: 'oh', at: 7 });
  expect(toFailure('oh', 7, 'FailedRead')).toEqual({ reason: 'FailedRead', message: 'oh', at: 7 });
});

test('what an error says is found by its shape, as each realm has a class of its own', () => {
  expect(messageOf(runInNewContext("new Error('elsewhere')"))).toBe('elsewhere');
  expect(messageOf(null)).toBe('null');
});
