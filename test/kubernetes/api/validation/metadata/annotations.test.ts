import { expect, test } from '@jest/globals';
import { aContainer, aPod, problemsIn } from '../../../fixtures.ts';

const POD = 'seccomp.security.alpha.kubernetes.io/pod';
const CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/main';

function problems(annotations: Record<string, string>, type?: 'RuntimeDefault' | 'Localhost'): string[] {
  const securityContext = type === undefined ? {} : { seccompProfile: { type, localhostProfile: 'a' } };
  const own = type === 'RuntimeDefault' ? { seccompProfile: { type } } : securityContext;
  const pod = aPod(
    { containers: [aContainer({ securityContext: own })] },
    { annotations: { 'kubernetes.io/config.source': 'file', ...annotations } },
  );
  return problemsIn(pod).map(({ path, message }) => `${path}: ${message}`);
}

test('a seccomp annotation must be a profile', () => {
  expect(problems({ [POD]: 'runtime/default', [CONTAINER]: 'localhost/a.json' })).toEqual([]);
  expect(problems({ [POD]: 'mine' })).toEqual([
    `metadata.annotations.${POD}: Invalid value: "mine": must be a valid seccomp profile`,
  ]);
  expect(problems({ [CONTAINER]: 'localhost/../a' })).toEqual([
    `metadata.annotations.${CONTAINER}: Invalid value: "../a": must not contain '..'`,
  ]);
});

test('a seccomp annotation must match the field', () => {
  const at = 'spec.containers[0].securityContext.seccompProfile';
  expect(problems({ [CONTAINER]: 'docker/default' }, 'RuntimeDefault')).toEqual([]);
  expect(problems({ [CONTAINER]: 'unconfined' }, 'RuntimeDefault')).toEqual([
    `${at}.type: Forbidden: seccomp type in annotation and field must match`,
  ]);
  expect(problems({ [CONTAINER]: 'localhost/b' }, 'Localhost')).toEqual([
    `${at}.localhostProfile: Forbidden: seccomp profile in annotation and field must match`,
  ]);
});

test('the deletion cost must be a 32-bit integer', () => {
  const key = 'controller.kubernetes.io/pod-deletion-cost';
  expect(problems({ [key]: '-2147483648' })).toEqual([]);
  for (const cost of ['2147483648', '+1', '01', ''])
    expect(problems({ [key]: cost })).toEqual([
      `metadata.annotations[${key}]: Invalid value: "${cost}": must be a 32bit integer`,
    ]);
});
