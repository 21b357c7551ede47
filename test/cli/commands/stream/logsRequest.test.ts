import { expect, test } from '@jest/globals';
import { type LogsOptions, parseLogsRequest } from '../../../../cli/commands/stream/logsRequest.ts';

const NOW = Date.parse('2026-05-04T12:00:00Z');
const wanted = (options: LogsOptions = {}, words = ['pod/web']) => parseLogsRequest(words, options, NOW);

test('logs accepts a pod and a container in every form of kubectl', () => {
  const nothing = { since: undefined, tailLines: undefined, limitBytes: undefined };
  expect(wanted()).toEqual({ ...nothing, name: 'web', container: undefined });
  expect(wanted({}, ['web', 'app'])).toEqual({ ...nothing, name: 'web', container: 'app' });
  expect(wanted({ container: 'app' }, ['po/web'])).toEqual({ ...nothing, name: 'web', container: 'app' });
});

test('logs accepts --tail, --limit-bytes and --since', () => {
  expect(wanted({ tail: '5', limitBytes: '100', since: '1m30s' })).toMatchObject({
    tailLines: 5,
    limitBytes: 100,
    since: NOW - 90_000,
  });
  expect(wanted({ tail: '-1', limitBytes: '0', since: '0' })).toMatchObject({
    tailLines: undefined,
    limitBytes: undefined,
    since: undefined,
  });
  expect(wanted({ tail: '0' })).toMatchObject({ tailLines: 0 });
  expect(wanted({ sinceTime: '2026-05-04T13:00:00.5+02:00' }).since).toBe(NOW - 3_599_500);
});

test.each<[LogsOptions, string[], string]>([
  [{ tail: '-2' }, ['web'], '--tail must be greater than or equal to -1'],
  [{ tail: 'x' }, ['web'], '--tail: expected a whole number, got "x"'],
  [{ limitBytes: '-1' }, ['web'], '--limit-bytes must be greater than 0'],
  [{ since: '-5s' }, ['web'], '--since must be greater than 0'],
  [{ since: '5' }, ['web'], '--since: expected a duration such as 5s, 2m or 3h, got "5"'],
  [{ sinceTime: 'yesterday' }, ['web'], '--since-time: expected a time (RFC 3339)'],
  [{ sinceTime: '2026-13-04T12:00:00Z' }, ['web'], '--since-time: expected a time (RFC 3339)'],
  [{ since: '5s', sinceTime: '2026-05-04T12:00:00Z' }, ['web'], 'at most one of `sinceTime` or `sinceSeconds`'],
  [{ container: 'a' }, ['web', 'b'], 'only one of -c or an inline [CONTAINER] arg is allowed'],
  [{ allContainers: true }, ['web', 'b'], '--all-containers=true should not be specified with container name b'],
  [{}, ['deployment/web'], 'deployment: an agent has no controllers such as Deployments and Jobs, only their pods'],
])('logs rejects the options %j with the arguments %j', (options, words, message) => {
  expect(() => wanted(options, words)).toThrow(message);
});
