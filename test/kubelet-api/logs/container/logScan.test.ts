import { expect, test } from '@jest/globals';
import { LogScan, type ScanOptions } from '../../../../kubelet-api/logs/container/logScan.ts';
import { line, stamp } from '../servedLogs.ts';

/** Returns the output for a log that is read in blocks of this size. */
function convert(log: string, options: ScanOptions = {}, size = log.length): string {
  const [scan, bytes, out] = [new LogScan(options), Buffer.from(log), [] as Buffer[]];
  for (let at = 0; at < bytes.length && !scan.isOver; at += size) {
    const text = scan.convertBlock(bytes.subarray(at, at + size));
    if (text !== undefined) out.push(Buffer.from(text));
  }
  const rest = scan.isOver ? undefined : scan.convertIncompleteLine();
  return Buffer.concat(rest === undefined ? out : [...out, rest]).toString();
}

const docker = (log: string, more: Readonly<Record<string, unknown>> = {}): string =>
  `${JSON.stringify({ log, stream: 'stdout', time: '2026-05-04T12:00:00.5Z', ...more })}\n`;

test.each([1, 2, 3, 7, 40, 41, 64, 1_000])('lines are complete when they are read in blocks of %d bytes', (size) => {
  const log =
    line(0, 'one') +
    line(1, 'a', { tags: 'P' }) +
    line(1, 'b', { stream: 'stderr', tags: 'F' }) +
    line(2, '') +
    line(3, 'ü');
  expect(convert(log, {}, size)).toBe('one\nab\n\nü\n');
  expect(convert(log, { timestamps: true, limitBytes: 140 }, size)).toBe(
    `${stamp(0)} one\n${stamp(1)} ab\n${stamp(2)} \n${stamp(3)} ü\n`.slice(0, 140),
  );
});

test('interleaved scans yield their own lines', () => {
  const log = (word: string) => Buffer.from([0, 1, 2].map((second) => line(second, word.repeat(5))).join(''));
  const all = ['one', 'two'].map((word) => ({ bytes: log(word), scan: new LogScan({}), out: '' }));
  for (let at = 0; at < log('one').length; at += 7) {
    for (const each of all) each.out += String(each.scan.convertBlock(each.bytes.subarray(at, at + 7)) ?? '');
  }
  expect(all.map(({ out }) => out)).toEqual(['one', 'two'].map((word) => `${word.repeat(5)}\n`.repeat(3)));
});

test('the text of a block retains no other memory', () => {
  const scan = new LogScan({});
  const text = scan.convertBlock(Buffer.from(line(0, 'x'.repeat(200)).repeat(60)));
  expect(text?.length).toBe(60 * 201);
  expect(text?.buffer.byteLength).toBeLessThan(16 * 1_024);
});

test.each([
  ['a time without a fraction', '2026-05-04T12:00:00Z stdout F x\n', '2026-05-04T12:00:00.000000000Z x\n'],
  ['a short fraction', '2026-05-04T12:00:00.5Z stdout F x\n', '2026-05-04T12:00:00.500000000Z x\n'],
  ['a zone', '2026-05-04T12:00:00.5+02:00 stderr F x\n', '2026-05-04T12:00:00.500000000+02:00 x\n'],
  ['more tags', `${stamp(0)} stdout P:x:y x\n`, `${stamp(0)} x`],
  ['an unknown tag', `${stamp(0)} stdout X x\n`, `${stamp(0)} x\n`],
  [
    'an empty part, after which a line begins',
    line(0, '', { tags: 'P' }) + line(1, 'x'),
    `${stamp(0)} ${stamp(1)} x\n`,
  ],
  ['no end', line(0, 'x').slice(0, -1), `${stamp(0)} x`],
])('C40: a line with %s is converted', (_, log, text) => {
  expect(convert(log, { timestamps: true })).toBe(text);
});

test.each([
  'nonsense\n',
  '\n',
  '2026-05-04T12:00:00.123456789Z stdout\n',
  '2026-05-04T12:00:00.123456789Z stdin F x\n',
  '2026-13-04T12:00:00.123456789Z stdout F x\n',
  '2026-02-30T12:00:00.123456789Z stdout F x\n',
  '2026-05-04T24:00:00.123456789Z stdout F x\n',
  '2026-05-04T12:00:00.12345678aZ stdout F x\n',
  '{"log":"x\\n","stream":"stdout","time":"2026-05-04T12:00:00Z"}\n',
])('C40: a later invalid line is skipped: %j', (bad) => {
  expect(convert(line(0, 'one') + bad + line(1, 'two'))).toBe('one\ntwo\n');
  // The invalid line does not count as a line either.
  expect(convert(line(0, 'one') + bad + line(1, 'two'), { lines: 2 })).toBe('one\ntwo\n');
});

test('C40: the first line determines the log format', () => {
  const unsupported = (line: string) => `failed to get parse function: unsupported log format: ${line}`;
  expect(() => convert('nonsense "a"\n')).toThrow(unsupported('"nonsense \\"a\\"\\n"'));
  expect(() => convert('[1]\n')).toThrow(unsupported('"[1]\\n"'));
  // The error message contains only the beginning of a file that is not a log.
  expect(() => convert('x'.repeat(1_000_000), {}, 32_768)).toThrow(unsupported(`"${'x'.repeat(256)}"`));
});

test('C40: lines in the format of Docker are converted', () => {
  const log = docker('one\n') + docker('tw') + docker('o\n', { stream: 'stderr' }) + line(0, 'bad') + docker('ü\n');
  expect(convert(log)).toBe('one\ntwo\nü\n');
  const time = '2026-05-04T12:00:00.500000000Z';
  expect(convert(log, { timestamps: true })).toBe(`${time} one\n${time} two\n${time} ü\n`);
  expect(convert(log, { stream: 'Stderr' })).toBe('o\n');
  expect(convert(log, { lines: 3 })).toBe('one\ntwo\n');
  expect(
    convert(log + docker('late\n', { time: '2026-05-04T12:00:01Z' }), { since: '2026-05-04T12:00:00.600000000' }),
  ).toBe('late\n');
  expect(convert(docker('x\n', { time: '2026-05-04T14:00:00+02:00' }), { timestamps: true })).toBe(
    '2026-05-04T14:00:00.000000000+02:00 x\n',
  );
  expect(() => convert(`${docker('one\n')}{}\n`)).toThrow('unexpected stream type ""');
  // A line without a time is older than all others.
  expect(convert(`${docker('one\n')}{}\n`, { since: '2026-01-01T00:00:00.000000000' })).toBe('one\n');
});

test('a line that is longer than any runtime writes is converted completely', () => {
  const long = 'x'.repeat(100_000);
  const log = line(0, long) + line(1, long, { tags: 'P' }) + line(2, 'end') + line(3, 'last');
  expect(convert(log, {}, 32_768)).toBe(`${long}\n${long}end\nlast\n`);
  expect(convert(log, { timestamps: true }, 10_000)).toBe(
    `${stamp(0)} ${long}\n${stamp(1)} ${long}end\n${stamp(3)} last\n`,
  );
  expect(convert(log, { lines: 1 }, 32_768)).toBe(`${long}\n`);
  expect(convert(log, { limitBytes: 50_000 }, 32_768)).toBe(long.slice(0, 50_000));
  expect(convert(log, { since: '2026-05-04T12:00:03.000000000' }, 32_768)).toBe('last\n');
  // In Docker's format, or in no known format, such a line is invalid.
  expect(convert(docker('a\n') + docker('x'.repeat(300_000)) + docker('b\n'), {}, 32_768)).toBe('a\nb\n');
  expect(convert(`${line(0, 'a') + 'x'.repeat(300_000)}\n${line(1, 'b')}`, {}, 32_768)).toBe('a\nb\n');
});
