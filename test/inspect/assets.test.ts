import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { emptySnapshot, fakeInspected, fakeLive, servedPage } from './support/served.ts';

describe('files', () => {
  test('are only those of the page, and none outside its directory', async () => {
    const { get, directory } = await servedPage();
    await mkdir(join(directory, 'charts'));
    await writeFile(join(directory, 'charts', 'container.running.json'), '{}');
    await writeFile(join(directory, 'page.js'), 'js');
    await writeFile(join(directory, '.hidden.js'), 'hidden');
    await writeFile(join(directory, '..', 'statelet-outside.js'), 'outside');
    await symlink('/etc/hostname', join(directory, 'plain'));
    const type = async (path: string) => (await get(path)).headers['content-type'];
    expect(await type('/assets/page.js')).toBe('text/javascript; charset=utf-8');
    expect(await type('/assets/charts/container.running.json')).toBe('application/json');
    for (const name of [
      '../statelet-outside.js',
      '..%2fstatelet-outside.js',
      '%2e%2e/statelet-outside.js',
      '..\\statelet-outside.js',
      'charts/../page.js%00.js',
      'charts//container.running.json',
      'charts/../../statelet-outside.js',
      '/etc/hostname',
      '.hidden.js',
      'plain',
      'page.js/',
      'constructor.js',
    ]) {
      const { body } = await get(`/assets/${name}`);
      expect([name, body]).toEqual([name, expect.not.stringMatching(/^(?:outside|hidden|js)/)]);
    }
  });

  test('that were not built are reported as missing', async () => {
    const { get } = await servedPage({ isBuilt: false });
    const { code, body } = await get('/');
    expect([code, body]).toEqual([404, expect.stringContaining('npm run build')]);
  });
});

test('names and messages in the page are escaped', async () => {
  const live = fakeLive();
  const odd = [
    '</script><script>alert(1)</script>',
    '<!--',
    'constructor',
    '__proto__',
    '\u0000\u001b[31m\u2028\u2029',
    "$&$'$`",
  ];
  const pods = odd.map((name) => ({
    uid: name,
    namespace: name,
    name,
    isStatic: false,
    phase: name,
    status: name,
    ready: '0/1',
    restarts: 0,
  }));
  live.shown = { ...emptySnapshot, node: { ...emptySnapshot.node, trouble: odd.join('') }, pods };
  const { get } = await servedPage({ inspected: fakeInspected(live) });
  const { body } = await get('/');
  const [, json = ''] = /<script type="application\/json" id="snapshot">(.*)<\/script><body>/s.exec(body) ?? [];
  expect([...json].filter((character) => character === '<' || character < ' ')).toEqual([]);
  expect(JSON.parse(json)).toEqual(live.shown);
  // The name of a requested object must appear as data, even if it looks like markup.
  const missing = await get('/api/</script>');
  expect([missing.headers['content-type'], missing.code]).toEqual(['application/json', 404]);
});
