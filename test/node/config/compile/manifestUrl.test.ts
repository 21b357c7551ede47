import { expect, test } from '@jest/globals';
import { compileManifestUrl } from '../../../../node/config/compile/manifestUrl.ts';
import { parseConfigFile } from '../../../../node/config/files/readFile.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const compiled = (flags: Record<string, string>, yaml = '') =>
  compileManifestUrl(settingValues({ flags: readFlags(flags), file: parseConfigFile('k.yaml', head + yaml).config }));

test('the URL, its headers and its poll interval come from the file, and flags override them', () => {
  const file =
    'staticPodURL: http://a/pods\nstaticPodURLHeader: {X-A: [one, two], X-B: [three]}\nhttpCheckFrequency: 1m\n';
  const headers = [
    ['X-A', 'one'],
    ['X-A', 'two'],
    ['X-B', 'three'],
  ];
  expect(compiled({}, file)).toEqual({ url: 'http://a/pods', headers, everyMs: 60_000 });
  const flags = { '--manifest-url': 'https://b/', '--manifest-url-header': 'X-C: four,X-C:five:six' };
  expect(compiled(flags, file)).toMatchObject({
    url: 'https://b/',
    headers: [
      ['X-C', 'four'],
      ['X-C', 'five:six'],
    ],
  });
  expect(compiled({ '--manifest-url': 'http://b' })).toEqual({ url: 'http://b', headers: [], everyMs: 20_000 });
  expect(compiled({}, 'staticPodURL: ""')).toBeUndefined();
});

test.each([
  [{ '--manifest-url': 'pods.yaml' }, '', '--manifest-url: expected a URL such as "https://example.com/pods.yaml"'],
  [{ '--manifest-url': 'ftp://a/b' }, '', '--manifest-url: expected a URL'],
  [{ '--manifest-url-header': 'X-A' }, '', '--manifest-url-header: expected headers such as "name:value,other:value"'],
  [{ '--manifest-url-header': 'X A:b' }, '', '--manifest-url-header: expected headers'],
  [{}, 'staticPodURL: nowhere', 'staticPodURL: expected a URL'],
  [{}, 'staticPodURLHeader: {X-A: one}', 'staticPodURLHeader: expected a map of header names to lists of values'],
  [{}, 'staticPodUrl: http://a', 'staticPodUrl: unknown field; did you mean staticPodURL?'],
])('the flags %j with the configuration "%s" are rejected', (flags: Record<string, string>, yaml, message) => {
  expect(() => compiled(flags, yaml)).toThrow(message);
});

test.each([
  [{ '--manifest-url': 'htp://me:hidden@host/?token=hidden' }, ''],
  [{ '--manifest-url-header': 'Authorization hidden' }, ''],
  [{}, 'staticPodURL: htp://me:hidden@host'],
  [{}, 'staticPodURLHeader: {Authorization: Bearer hidden}'],
])(
  'the error about the flags %j with the configuration "%s" contains no potential secret',
  (flags: Record<string, string>, yaml) => {
    expect(() => compiled(flags, yaml)).toThrow(/^(?!(.|\n)*hidden)/);
  },
);
