/** Tests the pages about the agent's own process. */
import { expect, test } from '@jest/globals';
import { createConfigzRoute, flagzRoute, statuszRoute } from '../../../kubelet-api/listener/pages.ts';
import { listening } from './support/listening.ts';

const startedAt = Date.parse('2026-01-02T03:04:05.678Z');
const routes = [
  statuszRoute({
    startedAt,
    now: () => startedAt + 3_723_000,
    kubeletVersion: 'v1.36.0+statelet.0.1.0',
    runtimeVersion: 'v24',
    paths: () => ['/configz', '/healthz'],
  }),
  flagzRoute(
    new Map([
      ['v', '2'],
      ['address', '::1'],
    ]),
  ),
  createConfigzRoute(() => ({ kind: 'KubeletConfiguration' })),
];

test('C39: /statusz and /flagz are text with the lines of a kubelet', async () => {
  const { ask } = await listening({ routes });
  const { body, headers } = await ask('/statusz');
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(body).toContain('not meant to be machine parseable');
  expect(body).toContain('only.\n\nStarted: Fri Jan  2 03:04:05 UTC 2026\nUp: 1 hr 02 min 03 sec\n');
  expect(body).toContain(
    '\nGo version: v24\nBinary version: 1.36.0\nEmulation version: 1.36\nPaths: /configz /healthz\n',
  );
  expect((await ask('/flagz')).body).toMatch(/only\.\naddress ::1\nv 2\n$/);
});

test('C39: /statusz and /flagz are JSON only for the complete media type', async () => {
  const { ask } = await listening({ routes });
  const accept = (text: string) => ({ headers: { accept: text } });
  const statusz = await ask('/statusz', accept('application/json;v=v1beta1;g=config.k8s.io;as=Statusz'));
  expect(JSON.parse(statusz.body)).toEqual({
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata: { name: 'kubelet' },
    startTime: '2026-01-02T03:04:05Z',
    uptimeSeconds: 3723,
    goVersion: 'v24',
    binaryVersion: '1.36.0',
    emulationVersion: '1.36',
    paths: ['/configz', '/healthz'],
  });
  const flagz = await ask('/flagz', accept('application/json; v=v1beta1; g=config.k8s.io; as=Flagz'));
  expect(JSON.parse(flagz.body)).toMatchObject({ kind: 'Flagz', flags: { v: '2' } });
  expect((await ask('/statusz', accept('application/json'))).code).toBe(406);
  expect((await ask('/flagz', accept('application/json;v=v1beta1;g=config.k8s.io;as=Statusz'))).code).toBe(406);
});

test('C39: /configz returns the configuration in the field kubeletconfig', async () => {
  const { ask } = await listening({ routes });
  expect(await ask('/configz', { method: 'PUT' })).toMatchObject({
    code: 200,
    body: '{"kubeletconfig":{"kind":"KubeletConfiguration"}}',
    headers: { 'content-type': 'application/json' },
  });
});
