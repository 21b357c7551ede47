import { expect, test } from '@jest/globals';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod, problemsIn } from '../../../fixtures.ts';

const problems = (spec: Partial<PodSpec>) =>
  problemsIn(aPod(spec, { annotations: { 'kubernetes.io/config.source': 'file' } })).map(
    ({ path, message }) => `${path}: ${message}`,
  );
const named = (runAsUserName: string) => problems({ securityContext: { windowsOptions: { runAsUserName } } });

test('Linux fields in a Windows pod are rejected', () => {
  const why = 'Forbidden: cannot be set for a windows pod';
  const spec = {
    os: { name: 'windows' as const },
    hostPID: true,
    securityContext: { fsGroup: 1, sysctls: [] },
    containers: [aContainer({ securityContext: { capabilities: {}, windowsOptions: {} } })],
  };
  expect(problems(spec)).toEqual([
    `spec.hostPID: ${why}`,
    `spec.securityContext.fsGroup: ${why}`,
    `spec.containers[0].securityContext.capabilities: ${why}`,
  ]);
});

test('an operating system other than linux and windows is rejected', () => {
  // The schema accepts any string, although its type has only these two.
  const os: NonNullable<PodSpec['os']> = JSON.parse('{ "name": "plan9" }');
  expect(problems({ os })).toEqual(['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"']);
});

test('the name of a Windows user is validated with an optional domain', () => {
  expect(named('EXAMPLE\\user')).toEqual([]);
  const at = 'spec.securityContext.windowsOptions.runAsUserName: Invalid value';
  expect(named('')).toEqual([`${at}: "": runAsUserName cannot be an empty string`]);
  expect(named('a\\b\\c')).toEqual([`${at}: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash`]);
  expect(named('a\u0001')).toEqual([`${at}: "a\\u0001": runAsUserName cannot contain control characters`]);
  expect(named('..')).toEqual([`${at}: "..": runAsUserName's User cannot contain only periods or spaces`]);
});

test('either all containers or none must be host processes', () => {
  const containers = [
    aContainer({ securityContext: { windowsOptions: { hostProcess: true } } }),
    aContainer({ name: 'b' }),
  ];
  expect(problems({ containers })).toEqual([
    'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
    'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
  ]);
});
