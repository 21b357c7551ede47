import { expect, test } from '@jest/globals';
import {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  invalid,
  methodNotAllowed,
  modifiedConflict,
  notFound,
  resourceNotFound,
} from '../../../../testing/apiserver/failures/failures.ts';

const pods = { group: '', name: 'pods', kind: 'Pod' };
const leases = { group: 'coordination.k8s.io', name: 'leases', kind: 'Lease' };
const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };

/** The expected values are recorded from a kube-apiserver. */
test('a failure has the Status of a kube-apiserver', () => {
  expect(notFound(pods, 'absent').status).toEqual({
    ...status,
    message: 'pods "absent" not found',
    reason: 'NotFound',
    code: 404,
    details: { name: 'absent', kind: 'pods' },
  });
  expect(resourceNotFound().status).toMatchObject({
    message: 'the server could not find the requested resource',
    details: {},
  });
  expect(methodNotAllowed().status).toMatchObject({ code: 405, reason: 'MethodNotAllowed', details: {} });
  expect(badRequest('odd').status).toEqual({ ...status, message: 'odd', reason: 'BadRequest', code: 400 });
  expect(modifiedConflict(pods, 'p').status).toMatchObject({
    code: 409,
    reason: 'Conflict',
    details: { name: 'p', kind: 'pods' },
    message:
      'Operation cannot be fulfilled on pods "p": the object has been modified; please apply your changes to the latest version and try again',
  });
  expect(expired('too old resource version: 1 (2)').status).toMatchObject({ code: 410, reason: 'Expired' });
});

test('a failure includes the API group of its resource', () => {
  expect(alreadyExists(leases, 'n').status).toMatchObject({
    message: 'leases.coordination.k8s.io "n" already exists',
    details: { name: 'n', group: 'coordination.k8s.io', kind: 'leases' },
  });
  expect(conflict(leases, 'n', 'why').message).toBe(
    'Operation cannot be fulfilled on leases.coordination.k8s.io "n": why',
  );
});

test('an Invalid failure lists all problems of the object', () => {
  const required = { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' };
  const other = { reason: 'FieldValueInvalid', message: 'Invalid value: 7', field: 'spec.x' };
  expect(invalid(pods, 'bad', [required]).status).toMatchObject({
    code: 422,
    reason: 'Invalid',
    details: { name: 'bad', kind: 'Pod', causes: [required] },
    message: 'Pod "bad" is invalid: spec.containers: Required value',
  });
  const { message, status: both } = invalid(leases, '', [required, other]);
  expect(message).toBe(
    'Lease.coordination.k8s.io "" is invalid: [spec.containers: Required value, spec.x: Invalid value: 7]',
  );
  expect(both.details).toEqual({ group: 'coordination.k8s.io', kind: 'Lease', causes: [required, other] });
});
