import { describe, expect, test } from '@jest/globals';
import type { Failure, FailureReason } from '../../../base/failure.ts';
import type { LimiterView } from '../../../show/actors/actorNode.ts';
import { formatExplanation } from '../../../show/explain/formatExplanation.ts';
import { explainPod } from '../../../show/explain.ts';
import {
  backOff,
  NOW,
  podView,
  run,
  running,
  type ShownPod,
  sandbox,
  seenPod,
  waiting,
} from '../../kubernetes/views.ts';

const answer = (view: ShownPod) => explainPod(seenPod(view), NOW).answer;
const failure = (reason: FailureReason, message: string): Failure => ({ reason, message, at: NOW - 12_000 });
const network = { sandbox: sandbox('10.88.0.5') };

const startLimiter: LimiterView = { capacity: 2, held: ['u-8/a/start'], queue: ['u-7/a/start', 'u-1/app/start'] };

describe('the text', () => {
  const long = 'x'.repeat(63);
  const wide = podView({
    main: {
      [long]: running({
        state: 'running.probing.someStateOfAVeryLongName',
        ready: false,
        restartCount: 12_345,
        lastFailure: failure('Unhealthy', `${'y'.repeat(200)}\n  and ${'z '.repeat(300)}`),
      }),
    },
    view: { sandbox: sandbox('10.88.0.5', 'fd00:1234:5678:9abc:def0:1234:5678:9abc') },
    meta: { name: long },
  });

  test('never exceeds 80 columns, regardless of names and messages', () => {
    const lines = formatExplanation(explainPod(seenPod(wide), NOW)).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.length).toBeLessThan(24);
    expect(lines).toContain('     not ready, 12345 restarts');
  });

  test.each([60, 120])('is as wide as a terminal of %i columns', (width) => {
    const [, title = '', ...lines] = `\n${formatExplanation(explainPod(seenPod(wide), NOW), width)}`.split('\n');
    // The namespace and name are not split, and neither are paths.
    expect(title).toContain(`default/${long}`);
    expect(Math.max(...lines.map((line) => line.length))).toBe(width);
  });

  test('never breaks a path', () => {
    const path = `/var/log/pods/${'directory-'.repeat(8)}/app/1.log`;
    const logs = new Map([['app', { file: path, lines: ['bye'] }]]);
    const view = podView({ main: { app: backOff(1) }, view: network });
    const lines = formatExplanation(explainPod(seenPod(view), NOW, { logs })).split('\n');
    expect(lines.some((line) => line.endsWith(path))).toBe(true);
  });

  test('omits clauses in the middle of a long message and ends with the cause', () => {
    const message = `failed to create task: ${'wrapped: '.repeat(60)}exec: "/bin/nope": no such file`;
    const said = answer(
      podView({
        main: { app: waiting('CreateContainerError', { lastFailure: failure('RunContainerError', message) }) },
        view: network,
      }),
    );
    expect(said).toMatch(
      /RunContainerError: failed to create task…(: wrapped){10,}: exec: "\/bin\/nope": no such file$/,
    );
    expect(said.split('RunContainerError: ')[1]?.length).toBeLessThanOrEqual(240);
  });

  test.each([
    ['once if it is one line, whatever its spaces', 'It could not be located.  It used to be Running\n', []],
    ['whole after its last line if it has several', 'panic:\nno database', ['message: panic: no database']],
  ])('shows the message of the last run %s', (_, message, more) => {
    const text = formatExplanation(
      explainPod(seenPod(podView({ main: { app: backOff(1, { lastRun: run(1, { message }) }) }, view: network })), NOW),
    );
    const lines = text.split('\n').map((line) => line.replace(/^[ │├└─]*/, ''));
    const last = lines.findIndex((line) => line.startsWith('last run: '));
    expect(last).toBeGreaterThan(0);
    expect(lines.filter((line) => line.startsWith('message: '))).toEqual(more);
  });

  test('can be created from plain JSON that was sent over a socket', () => {
    const explanation = explainPod(seenPod(wide), NOW, { limiters: [startLimiter] });
    expect(JSON.parse(JSON.stringify(explanation))).toEqual(explanation);
  });
});
