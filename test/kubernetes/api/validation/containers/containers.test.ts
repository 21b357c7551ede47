import { expect, test } from '@jest/globals';
import { aContainer, aPod, problemsIn } from '../../../fixtures.ts';

test('a stopSignal is valid with and without an operating system, as in an API server', () => {
  const containers = [aContainer({ lifecycle: { stopSignal: 'SIGUSR1' } })];
  expect(problemsIn(aPod({ containers }))).toEqual([]);
  expect(problemsIn(aPod({ containers, os: { name: 'linux' } }))).toEqual([]);
});

test('an ephemeral container must target a container of its pod, without probes, ports or resources', () => {
  const ephemeral = {
    ...aContainer({ name: 'shell', ports: [{ containerPort: 1 }], resources: { limits: { cpu: '1' } } }),
    targetContainerName: 'nobody',
  };
  const found = problemsIn(aPod({ ephemeralContainers: [ephemeral] })).map(
    ({ path, message }) => `${path}: ${message}`,
  );
  expect(found).toEqual([
    'spec.ephemeralContainers[0].targetContainerName: Not found: "nobody"',
    'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
    'spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container',
  ]);
});

test('the restart rules of an init container without a policy are not validated', () => {
  const rule = { action: 'Restart' as const };
  const init = aContainer({ name: 'init', restartPolicyRules: [rule] });
  expect(problemsIn(aPod({ initContainers: [init] })).map(({ path }) => path)).toEqual([
    'spec.initContainers[0].restartPolicy',
  ]);
  const containers = [aContainer({ restartPolicyRules: [rule] })];
  expect(problemsIn(aPod({ containers })).map(({ path }) => path)).toEqual([
    'spec.containers[0].restartPolicy',
    'spec.containers[0].restartPolicyRules[0].exitCodes',
  ]);
});
