/** Tests which route the server finds for a path. The table is that of the kubelet. */
import { describe, expect, test } from '@jest/globals';
import { cleanPath, PathTable, parseTarget, rawPath } from '../../../kubelet-api/listener/paths.ts';
import { ALL_ON, echo } from './support/listening.ts';

const TREES = ['/pods', '/stats', '/containerLogs', '/run', '/exec', '/attach', '/portForward', '/checkpoint']
  .concat(['/runningpods', '/logs', '/debug/pprof', '/debug/flags/v', '/configz', '/flagz', '/statusz'])
  .concat(['/healthz', '/healthz/ping', '/metrics', '/metrics/cadvisor']);
const routes = TREES.map(echo);
const paths = new PathTable(routes, ALL_ON);

const routeOf = (path: string, method = 'GET', accept?: string, among = paths): string => {
  const found = among.find(path, method, accept);
  if (found.kind === 'route') return found.route.pathPrefix;
  if (found.kind === 'elsewhere') return `> ${found.path}`;
  return found.kind === 'fixed' ? `${found.response.code} ${found.response.headers?.allow ?? ''}`.trim() : 'nothing';
};

describe('C39: a path', () => {
  test.each([
    ['/pods', '/pods'],
    ['/pods/', '/pods'],
    ['/pods/web', '404'],
    ['/podsx', 'nothing'],
    ['/', 'nothing'],
    ['/stats', '> /stats/'],
    ['/stats/summary', '/stats'],
    ['/runningpods', '> /runningpods/'],
    ['/runningpods/', '/runningpods'],
    ['/runningpods/x', '404'],
    ['/logs', '> /logs/'],
    ['/logs/a/b/c', '/logs'],
    ['/debug/pprof', '> /debug/pprof/'],
    ['/debug', 'nothing'],
    ['/debug/flags/v', '/debug/flags/v'],
    ['/debug/flags/v/x', 'nothing'],
    ['/containerLogs/ns/pod/c', '/containerLogs'],
    ['/containerLogs/ns/pod', '404'],
    ['/containerLogs/ns/pod/c/d', '404'],
    ['/exec/ns/pod/c', '/exec'],
    ['/exec/ns/pod/uid/c', '/exec'],
    ['/exec', '404'],
    ['/portForward/ns/pod', '/portForward'],
    ['/portForward/ns/pod/uid/x', '404'],
    ['/configz', '/configz'],
    ['/configz/', 'nothing'],
    ['/healthz', '/healthz'],
    ['/healthz/ping', '/healthz/ping'],
    ['/healthz/none', 'nothing'],
    ['/metrics/cadvisor', '/metrics/cadvisor'],
    ['/metrics/none', 'nothing'],
    ['/containerlogs/ns/pod/c', 'nothing'],
  ])('%s is routed to %s', (path, expected) => {
    expect(routeOf(path)).toBe(expected);
  });

  test.each([
    ['POST', '/pods', '405 GET'],
    ['HEAD', '/pods', '405 GET'],
    ['GET', '/run/ns/pod/c', '405 POST'],
    ['PUT', '/exec/ns/pod/c', '405 GET, POST'],
    ['POST', '/containerLogs/ns/pod', '404'],
    ['DELETE', '/healthz', '/healthz'],
    ['HEAD', '/configz', '/configz'],
    ['PUT', '/metrics', '/metrics'],
  ])('requested by %s, %s is routed to %s', (method, path, expected) => {
    expect(routeOf(path, method)).toBe(expected);
  });

  test.each([
    [undefined, '/pods'],
    ['*/*', '/pods'],
    ['application/json', '/pods'],
    ['text/html, application/json;q=0.9', '/pods'],
    ['application/*', '406'],
    ['text/plain', '406'],
  ])('with a JSON response and the Accept header %s is routed to %s', (accept, expected) => {
    expect(routeOf('/pods', 'GET', accept)).toBe(expected);
    expect(routeOf('/healthz', 'GET', accept)).toBe('/healthz');
  });
});

describe('C39: a disabled switch', () => {
  const without = (off: object) => new PathTable(routes, { ...ALL_ON, ...off });

  test.each([
    ['systemLogs', '/logs/x', 'logs endpoint is disabled.\n'],
    ['profiling', '/debug/pprof/heap', 'profiling endpoint is disabled.\n'],
    ['debugFlags', '/debug/flags/v', 'flags endpoint is disabled.\n'],
    ['debugging', '/exec/ns/pod/c', 'Debug endpoints are disabled.\n'],
    ['debugging', '/logs/', 'Debug endpoints are disabled.\n'],
  ])('%s: %s reports that it is disabled', (name, path, text) => {
    expect(without({ [name]: false }).find(path, 'PUT', undefined)).toMatchObject({ response: { code: 405, text } });
  });

  test('for debugging leaves only the other paths of a read-only port', () => {
    const plain = without({ debugging: false });
    const open = [
      '/exec',
      '/pods',
      '/stats/summary',
      '/metrics',
      '/healthz',
      '/configz',
      '/checkpoint/a/b/c',
      '/statusz',
    ];
    expect(open.map((path) => routeOf(path, 'GET', undefined, plain))).toEqual([
      '> /exec/',
      '/pods',
      '/stats',
      '/metrics',
      '/healthz',
      'nothing',
      'nothing',
      'nothing',
    ]);
  });
});

test.each([
  ['all switches on', {}, '/configz /debug /flagz /healthz /metrics'],
  ['the system logs disabled', { systemLogs: false }, '/configz /debug /flagz /healthz /logs /metrics'],
  ['profiling and flags disabled', { profiling: false, debugFlags: false }, '/configz /debug /flagz /healthz /metrics'],
])('C39: with %s, /statusz lists the same paths as in a kubelet', (_, off, listed) => {
  expect(new PathTable(routes, { ...ALL_ON, ...off }).statuszPaths).toEqual(listed.split(' '));
});

test('C39: a path is cleaned as in Go', () => {
  const cleaned = ['//pods', '/a/../pods', '/./pods/', '/..', '/', '/a//b/', '/a/..//'].map(cleanPath);
  expect(cleaned).toEqual(['/pods', '/pods', '/pods/', '/', '/', '/a/b/', '/']);
});

test('the host of a request target is ignored, and an invalid target has no path', () => {
  expect(parseTarget('//evil/pods')?.pathname).toBe('//evil/pods');
  expect(parseTarget('http://evil/pods?a=b')?.pathname).toBe('/pods');
  expect(['*', 'pods', 'file:///etc/passwd', ''].map(parseTarget)).toEqual([null, null, null, null]);
  expect(rawPath('http://evil/pods?a=b')).toBe('/pods');
  expect(rawPath('/logs/%2e%2e/x?y')).toBe('/logs/%2e%2e/x');
});
