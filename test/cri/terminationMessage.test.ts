import { describe, expect, test } from '@jest/globals';
import { TERMINATION_MESSAGE_PATH_ANNOTATION, TERMINATION_MESSAGE_POLICY_ANNOTATION } from '../../cri/config/labels.ts';
import { ContainerStatus, Mount } from '../../cri/generated/runtime.ts';
import { takeLastLogLines, terminationMessageSource } from '../../cri/terminationMessage.ts';

const ended = (policy: string, more: Partial<ContainerStatus> = {}): ContainerStatus =>
  ContainerStatus.fromPartial({
    exitCode: 1,
    reason: 'Error',
    logPath: '/log/0.log',
    mounts: [Mount.fromPartial({ containerPath: '/dev/termination-log', hostPath: '/host/0' })],
    annotations: {
      [TERMINATION_MESSAGE_PATH_ANNOTATION]: '/dev/termination-log',
      [TERMINATION_MESSAGE_POLICY_ANNOTATION]: policy,
    },
    ...more,
  });

describe('C22: the termination message source', () => {
  test('is the mount at the path in the annotations', () => {
    expect(terminationMessageSource(ended('File'))).toEqual({ file: '/host/0' });
    expect(terminationMessageSource(ended('File', { mounts: [] }))).toEqual({});
  });

  test('includes the log if the policy falls back to it', () => {
    expect(terminationMessageSource(ended('FallbackToLogsOnError'))).toEqual({ file: '/host/0', log: '/log/0.log' });
  });

  test.each<[string, Partial<ContainerStatus>]>([
    ['succeeded', { exitCode: 0, reason: 'Completed' }],
    ['could not be started', { exitCode: 128, reason: 'StartError' }],
    ['could not be run', { exitCode: 127, reason: 'ContainerCannotRun' }],
    ['has no log', { logPath: '' }],
  ])('does not include the log of a container that %s', (_, more) => {
    expect(terminationMessageSource(ended('FallbackToLogsOnError', more))).toEqual({ file: '/host/0' });
  });
});

describe('C22: the last lines of a log', () => {
  const text = (log: string, lines = 80) => takeLastLogLines(Buffer.from(log), lines).toString();
  const at = '2026-05-04T12:02:56.123456789Z';

  test('have no headers and combine both streams', () => {
    expect(text(`${at} stdout F one\n${at} stderr F two words\n${at} stdout F \n`)).toBe('one\ntwo words\n\n');
  });

  test('join partial lines', () => {
    expect(text(`${at} stdout P half a\n${at} stdout P  line\n${at} stdout F  in three\n`)).toBe(
      'half a line in three\n',
    );
  });

  test('are limited to the requested number', () => {
    expect(text(`${at} stdout F one\n${at} stdout F two\n${at} stdout F three`, 2)).toBe('two\nthree');
  });

  test('include the rest of a first line that was cut', () => {
    expect(text(`the rest of it\n${at} stdout F two\n`)).toBe('the rest of it\ntwo\n');
  });

  test('are returned as bytes', () => {
    const raw = Buffer.concat([Buffer.from(`${at} stdout F `), Buffer.from([0xff, 0x00, 0xe4]), Buffer.from('\n')]);
    expect([...takeLastLogLines(raw, 80)]).toEqual([0xff, 0x00, 0xe4, 0x0a]);
  });
});
