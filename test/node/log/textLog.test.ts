import { describe, expect, test } from '@jest/globals';
import { isPrintable } from '../../../base/text/printable.ts';
import { formatTextLine } from '../../../node/log/textLog.ts';

const at = new Date('2026-11-29T03:15:00.042Z');
const lineOf = (record: object): string =>
  formatTextLine(
    `${JSON.stringify({ level: 'info', time: at.toISOString(), caller: 'statusLog.ts:40', ...record })}\n`,
  );

/** The format that parsers of the kubelet's log expect. */
const KLOG = /^([IWEF])(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) +(\d+) ([^ \]]+):(\d+)\] (.*)\n$/s;

describe('a log line has the format of klog', () => {
  test('with severity, local time, process ID, file and line, the quoted message and the fields', () => {
    const [, severity, month, day, hours, minutes, seconds, micros, pid, file, line, rest] =
      KLOG.exec(lineOf({ level: 'warn', pod: 'default/web', port: 80, msg: 'a "b"' })) ?? [];
    expect([severity, Number(month), Number(day)]).toEqual(['W', at.getMonth() + 1, at.getDate()]);
    expect([Number(hours), Number(minutes), seconds, micros]).toEqual([at.getHours(), at.getMinutes(), '00', '042000']);
    expect([Number(pid), file, line]).toEqual([process.pid, 'statusLog.ts', '40']);
    expect(rest).toBe(String.raw`"a \"b\"" pod="default/web" port=80`);
  });

  test.each([
    ['trace', 'I'],
    ['debug', 'I'],
    ['info', 'I'],
    ['warn', 'W'],
    ['error', 'E'],
    ['fatal', 'F'],
  ])('with the level %s as the severity %s', (level, severity) => {
    expect(lineOf({ level, msg: 'x' })).toMatch(new RegExp(`^${severity}\\d{4} `));
  });

  test('an error has its message, and its stack as a value of several lines', () => {
    const err = { type: 'Error', message: 'no room', stack: 'Error: no room\n    at one\n    at two' };
    expect(lineOf({ msg: 'failed', err })).toMatch(
      /\] "failed" err="no room" stack=<\n\tError: no room\n\t {4}at one\n\t {4}at two\n >\n$/,
    );
  });

  test('control characters of a terminal are escaped', () => {
    const line = lineOf({ msg: 'said \x1b[2J\n\u202eback', pod: '\x9bweb', more: { deep: '\x7f' }, many: 'a\n\x1bb' });
    expect(isPrintable(line)).toBe(true);
    expect(isPrintable(formatTextLine('no JSON \x1b[2J\n'))).toBe(true);
  });
});
