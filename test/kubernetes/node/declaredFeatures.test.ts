import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import {
  DECLARED_FEATURES,
  FEATURES,
  featuresForUpdate,
  unsupportedFeatures,
} from '../../../kubernetes/node/declaredFeatures.ts';
import { aContainer, aPod } from '../fixtures.ts';

const words = 'Pod requires node features that are not available: ';
const restarting: Container = aContainer({
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
});
const withInit = (cpu: string, more: Partial<Container> = {}): PodSpec =>
  aPod({ initContainers: [aContainer({ name: 'init', resources: { requests: { cpu } }, ...more })] }).spec;

describe('C24: features that a pod needs', () => {
  test('are declared by the node in sorted order', () => {
    expect(DECLARED_FEATURES).toEqual([...DECLARED_FEATURES].sort());
  });

  test('are all declared if an update can need them, so that no update has to be reported as unsupported', () => {
    const neededByUpdates = FEATURES.filter(({ isNeededByUpdate }) => isNeededByUpdate !== undefined);
    expect(neededByUpdates.length).toBeGreaterThan(0);
    expect(DECLARED_FEATURES).toEqual(expect.arrayContaining(neededByUpdates.map(({ name }) => name)));
  });

  test.each<[string, PodSpec, string | undefined]>([
    ['a plain pod', aPod().spec, undefined],
    ['the network of the host', aPod({ hostNetwork: true }).spec, undefined],
    ['users of its own', aPod({ hostUsers: false }).spec, undefined],
    ['both', aPod({ hostNetwork: true, hostUsers: false }).spec, `${words}UserNamespacesHostNetworkSupport`],
    [
      'a restart of all containers',
      aPod({ containers: [restarting] }).spec,
      `${words}RestartAllContainersOnContainerExits`,
    ],
    [
      'a restart of all containers, by an init container',
      aPod({ initContainers: [{ ...restarting, name: 'init' }] }).spec,
      `${words}RestartAllContainersOnContainerExits`,
    ],
  ])('%s', (_, spec, message) => {
    expect(unsupportedFeatures(spec, [])).toBe(message);
    expect(
      unsupportedFeatures(spec, ['RestartAllContainersOnContainerExits', 'UserNamespacesHostNetworkSupport']),
    ).toBe(undefined);
  });

  test.each<[string, PodSpec, PodSpec, readonly string[]]>([
    ['nothing', withInit('1'), withInit('1000m'), []],
    ['an init container', withInit('1'), withInit('2'), ['InPlacePodVerticalScalingInitContainers']],
    ['a sidecar', withInit('1', { restartPolicy: 'Always' }), withInit('2', { restartPolicy: 'Always' }), []],
    ['an init container that goes', withInit('1'), aPod().spec, []],
    [
      'the pod itself',
      aPod().spec,
      aPod({ resources: { limits: { cpu: '1' } } }).spec,
      ['InPlacePodLevelResourcesVerticalScaling'],
    ],
  ])('include those for a resize of %s', (_, before, after, features) => {
    expect(featuresForUpdate(before, after)).toEqual(features);
    expect(DECLARED_FEATURES).toEqual(expect.arrayContaining([...features]));
  });
});
