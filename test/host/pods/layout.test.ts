import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLayout } from '../../../host/pods/layout.ts';

const layout = createLayout({ rootDir: '/var/lib/kubelet', podLogsDir: '/var/log/pods' });
const pod = { uid: 'abc123', namespace: 'shop', name: 'web' };

test('the paths of a pod are those that other node tools expect', () => {
  expect(layout.podDir('abc123')).toBe('/var/lib/kubelet/pods/abc123');
  expect(layout.volumeDir('abc123', 'kubernetes.io/empty-dir', 'cache')).toBe(
    '/var/lib/kubelet/pods/abc123/volumes/kubernetes.io~empty-dir/cache',
  );
  expect(layout.terminationLog('abc123', 'main', '1f')).toBe('/var/lib/kubelet/pods/abc123/containers/main/1f');
  expect(layout.subPathDir('abc123', 'cache', 'main', 2)).toBe(
    '/var/lib/kubelet/pods/abc123/volume-subpaths/cache/main/2',
  );
  expect(layout.hostsFile('abc123')).toBe('/var/lib/kubelet/pods/abc123/etc-hosts');
});

test('C23: the paths of logs and their links are those that log collectors expect', () => {
  expect(layout.containerLogDir(pod, 'main')).toBe('/var/log/pods/shop_web_abc123/main');
  expect(layout.logLink(pod, 'main', 'f00')).toBe('/var/log/containers/web_shop_main-f00.log');
  expect(path.basename(layout.logLink(pod, 'main', 'f00')).startsWith(layout.logLinkPrefix(pod))).toBe(true);
});

test('a log link is shortened to 255 bytes and retains its suffix', () => {
  const long = { ...pod, name: 'n'.repeat(253) };
  const name = path.basename(layout.logLink(long, 'main', 'f00'));
  expect(name).toHaveLength(255);
  expect(name.endsWith('.log')).toBe(true);
  expect(name.startsWith(layout.logLinkPrefix(long))).toBe(true);
});

test('directories must be absolute', () => {
  expect(() => createLayout({ rootDir: 'here', podLogsDir: '/var/log/pods' })).toThrow(/"here" must be an absolute/);
});

describe('a name that could escape its directory', () => {
  const hostile = fc.oneof(
    fc.constantFrom('', '.', '..', '../x', 'a/b', '/', 'a\0b', '-rf', '.hidden', 'a b', 'x'.repeat(254)),
    fc.string(),
    fc.string({ unit: fc.constantFrom('.', '/', '~', 'a', '-') }),
  );

  test('is rejected as a UID, volume, container, pod or ID, or stays one segment', () => {
    const asked: [string, (name: string) => string, number][] = [
      ['/var/lib/kubelet/pods', (name) => layout.podDir(name), 1],
      ['/var/lib/kubelet/pods/u/volumes', (name) => layout.volumeDir('u', 'kubernetes.io/host-path', name), 2],
      ['/var/lib/kubelet/pods/u/containers', (name) => layout.terminationLog('u', name, '1'), 2],
      ['/var/lib/kubelet/pods/u/containers', (name) => layout.terminationLog('u', 'c', name), 2],
      ['/var/log/pods', (name) => layout.podLogDir({ ...pod, name }), 1],
      ['/var/log/pods', (name) => layout.podLogDir({ ...pod, namespace: name }), 1],
      ['/var/log/pods', (name) => layout.containerLogDir(pod, name), 2],
      ['/var/log/containers', (name) => layout.logLink(pod, 'main', name), 1],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...asked), hostile, ([folder, ask, depth], name) => {
        let made: string;
        try {
          made = ask(name);
        } catch (error) {
          expect(error).toMatchObject({ reason: 'FailedValidation' });
          return;
        }
        const segments = path.relative(folder, made).split('/');
        expect(segments).toHaveLength(depth);
        expect(segments).not.toContain('..');
        expect(segments.join('')).toContain(name.slice(0, 200));
      }),
      { numRuns: 500 },
    );
  });

  test.each(['', '.', '..', '../../etc', 'a/b', 'a\0b', '-rf'])('%j is rejected', (name) => {
    expect(() => layout.podDir(name)).toThrow(/cannot be used in a path/);
    expect(() => layout.volumeDir('u', 'kubernetes.io/empty-dir', name)).toThrow(/volume name/);
  });

  test('as a plugin has its slashes replaced by ~, and each segment is checked', () => {
    expect(layout.volumeDir('u', 'a/b/c', 'v')).toBe('/var/lib/kubelet/pods/u/volumes/a~b~c/v');
    expect(() => layout.volumeDir('u', 'kubernetes.io/..', 'v')).toThrow(/volume plugin "\.\."/);
    expect(() => layout.volumeDir('u', '/csi', 'v')).toThrow(/volume plugin ""/);
  });
});
