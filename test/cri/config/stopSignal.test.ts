import { expect, test } from '@jest/globals';
import { stopSignal } from '../../../cri/config/containerConfig.ts';
import { Signal } from '../../../cri/generated/runtime.ts';

test.each([
  ['SIGTERM', Signal.SIGNAL_SIGTERM],
  ['SIGRTMIN', Signal.SIGNAL_SIGRTMIN],
  ['SIGRTMIN+1', Signal.SIGNAL_SIGRTMINPLUS1],
  ['SIGRTMAX-14', Signal.SIGNAL_SIGRTMAXMINUS14],
])('%s maps to a signal number', (name, signal) => {
  expect(stopSignal(name)).toBe(signal);
});

test('without a signal, the image decides', () => {
  expect(stopSignal(undefined)).toBe(Signal.SIGNAL_RUNTIME_DEFAULT);
});

test.each(['SIGNOPE', 'TERM', '', 'constructor'])('the unknown signal %j is rejected by its name', (name) => {
  expect(() => stopSignal(name)).toThrow(
    expect.objectContaining({ reason: 'CreateContainerConfigError', message: `stopSignal: ${name} is not a signal` }),
  );
});
