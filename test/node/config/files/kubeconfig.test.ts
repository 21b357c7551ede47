import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseKubeconfig, readKubeconfig } from '../../../../node/config/files/kubeconfig.ts';

const PATH = '/etc/kubernetes/node.conf';
const PEM = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
const base64 = (text: string) => Buffer.from(text).toString('base64');

const kubeconfig = (more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'own',
  contexts: [
    { name: 'other', context: { cluster: 'far', user: 'nobody' } },
    { name: 'own', context: { cluster: 'near', user: 'node' } },
  ],
  clusters: [
    { name: 'far', cluster: { server: 'ftp://nowhere' } },
    {
      name: 'near',
      cluster: { server: 'https://192.0.2.1:6443/prefix', 'certificate-authority-data': base64(PEM) },
    },
  ],
  users: [{ name: 'node', user: { 'client-certificate': 'pki/node.crt', 'client-key': '/run/node.key' } }],
  ...more,
});

const parse = (more: object = {}) => parseKubeconfig(PATH, JSON.stringify(kubeconfig(more)));
const problem = (more: object): string => {
  try {
    parse(more);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return '';
};
const cluster = (fields: object) => ({ clusters: [{ name: 'near', cluster: fields }] });
const user = (fields: object) => ({ users: [{ name: 'node', user: fields }] });
const V1 = 'client.authentication.k8s.io/v1';
const SERVER = { server: 'https://192.0.2.1' };

describe('a kubeconfig', () => {
  test('provides the server and the user of its current context, with paths relative to its own directory', () => {
    expect(parse()).toEqual({
      cluster: { server: 'https://192.0.2.1:6443/prefix', 'certificate-authority-data': PEM },
      user: { 'client-certificate': '/etc/kubernetes/pki/node.crt', 'client-key': '/run/node.key' },
      names: { context: 'own', user: 'node' },
      errorPrefixes: {
        cluster: `--kubeconfig: ${PATH}: clusters: "near": `,
        user: `--kubeconfig: ${PATH}: users: "node": `,
      },
    });
  });

  test('reads null and missing strings as empty strings, as client-go does', () => {
    const exec = {
      apiVersion: V1,
      command: 'login',
      args: ['b', null],
      env: [{ name: 'A', value: null }, { name: 'B' }],
      interactiveMode: 'Never',
    };
    expect(parse(user({ token: null, 'client-certificate-data': null, exec })).user).toEqual({
      exec: { ...exec, args: ['b', ''], env: ['A', 'B'].map((name) => ({ name, value: '' })) },
    });
    expect(parse(cluster({ ...SERVER, 'certificate-authority-data': null })).cluster).toEqual(SERVER);
    expect(problem({ 'current-context': null })).toContain('current-context: expected the name of a context');
  });

  test('may have no user, and the first of several entries with the same name counts', () => {
    const context = { name: 'own', context: { cluster: 'near', user: '' } };
    expect(parse({ contexts: [context], users: null }).user).toEqual({});
    const twice = [SERVER, { server: 'https://192.0.2.2' }].map((each) => ({ name: 'near', cluster: each }));
    expect(parse({ clusters: twice }).cluster).toMatchObject(SERVER);
  });

  test('may have empty impersonation fields, and combine files with inline data', () => {
    const nobody = { as: '', 'as-groups': null, 'as-user-extra': {} };
    const mixed = { 'client-certificate-data': base64(PEM), 'client-key': '/k', ...nobody };
    expect(parse(user(mixed)).user).toMatchObject({ 'client-certificate-data': PEM, 'client-key': '/k' });
    const insecure = { ...SERVER, 'insecure-skip-tls-verify': true, 'certificate-authority-data': '' };
    expect(parse(cluster(insecure)).cluster).toMatchObject({ 'insecure-skip-tls-verify': true });
  });

  test('may have names with any characters, which are escaped in messages', () => {
    const contexts = [{ name: 'own', context: { cluster: 'near', user: '\x1b[2J\nno' } }];
    expect(problem({ contexts })).toBe(`--kubeconfig: ${PATH}: contexts: "own": there is no user "^[[2J\\nno"`);
    const users = [{ name: '\x1b[2J\nno', user: {} }];
    expect(parse({ contexts, users }).errorPrefixes.user).toBe(`--kubeconfig: ${PATH}: users: "^[[2J\\nno": `);
  });

  test.each(['[]', '42', '"a"', 'contexts: [7]\ncurrent-context: a', 'clusters: 7\ncurrent-context: a'])(
    'with a wrong type in place of a map or list is rejected: %s',
    (text) => {
      expect(() => parseKubeconfig(PATH, text)).toThrow(/^--kubeconfig: .*: .*expected a (map of fields|list)/);
    },
  );

  test('may be YAML', () => {
    const text = [
      'current-context: constructor',
      'contexts: [{name: constructor, context: {cluster: __proto__}}]',
      'clusters: [{name: __proto__, cluster: {server: "https://localhost"}}]',
    ].join('\n');
    const names = { context: 'constructor', user: '' };
    expect(parseKubeconfig(PATH, text)).toMatchObject({ cluster: { server: 'https://localhost' }, user: {}, names });
  });

  test.each([
    [{ 'current-context': 'gone' }, 'current-context: there is no context "gone"'],
    [{ 'current-context': '' }, 'current-context: expected the name of a context'],
    [{ clusters: [] }, 'contexts: "own": there is no cluster "near"'],
    [{ users: [] }, 'contexts: "own": there is no user "node"'],
    [{ contexts: 3 }, 'contexts: expected a list'],
    [cluster({}), 'clusters: "near": server: expected an address such as "https://192.0.2.1:6443"'],
    [
      cluster({ server: 'http://192.0.2.1' }),
      'clusters: "near": server: expected an address such as "https://192.0.2.1:6443"',
    ],
    [
      cluster({ ...SERVER, 'certificate-authority-data': 'c2VjcmV0' }),
      'clusters: "near": certificate-authority-data: expected a PEM block in base64',
    ],
    [
      cluster({ ...SERVER, 'certificate-authority-data': `${base64(PEM)}!` }),
      'clusters: "near": certificate-authority-data: expected a PEM block in base64',
    ],
    [
      cluster({ ...SERVER, 'proxy-url': 'ftp://:SECRET@proxy' }),
      'clusters: "near": proxy-url: expected an address such as "http://192.0.2.1:3128" or "socks5://192.0.2.1:1080"',
    ],
    ...['https://:SECRET@192.0.2.1', 'https://SECRET@192.0.2.1', 'https://192.0.2.1#SECRET', 'https://192.0.2.1?'].map(
      (server): [object, string] => [
        cluster({ server }),
        'clusters: "near": server: expected an address such as "https://192.0.2.1:6443"',
      ],
    ),
    [
      cluster({ ...SERVER, 'certificate-authority': '/ca.crt', 'insecure-skip-tls-verify': true }),
      'clusters: "near": insecure-skip-tls-verify: must not be set together with certificate-authority, which would be ignored',
    ],
    [cluster([]), 'clusters: "near": expected a map of fields'],
    [{ users: [{ name: 'node', user: 'SECRET' }] }, 'users: "node": expected a map of fields'],
    ...[{ 'as-groups': ['a'] }, { 'as-uid': '7' }, { 'as-user-extra': { a: ['b'] } }].map(
      (fields): [object, string] => [
        user({ token: 't', ...fields }),
        'users: "node": as: expected a user name, because as-uid, as-groups or as-user-extra is set',
      ],
    ),
    [user({ as: 'a\nb' }), 'users: "node": as: expected text without control characters'],
    [user({ username: 'a', token: 't' }), 'users: "node": username: must not be set together with a token'],
    [user({ 'client-certificate': 'a.crt' }), 'users: "node": client-key: required with client-certificate'],
    [
      user({ 'client-key-data': base64(PEM), 'client-certificate': '' }),
      'users: "node": client-certificate: required with client-key',
    ],
    [user({ token: 7 }), 'users: "node": token: expected a string'],
    [
      user({ 'auth-provider': { name: 'gcp' } }),
      'users: "node": auth-provider: not supported by a node; use an exec program',
    ],
    [
      user({ exec: { command: 'aws' } }),
      'users: "node": exec.apiVersion: expected one of "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"',
    ],
    [user({ exec: { apiVersion: V1, command: '' } }), 'users: "node": exec.command: expected a program'],
    [
      user({ exec: { apiVersion: V1, command: 'aws' } }),
      'users: "node": exec: interactiveMode: expected "Never" or "IfAvailable"',
    ],
    [
      user({ exec: { apiVersion: V1, command: 'aws', interactiveMode: 'Always' } }),
      'users: "node": exec: interactiveMode: expected "Never" or "IfAvailable", for nobody can be asked here',
    ],
  ])('with a mistake is rejected with its location and without secrets: %j', (more, said) => {
    expect(problem(more)).toBe(`--kubeconfig: ${PATH}: ${said}`);
  });
});

describe('the kubeconfig file', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('is read with paths relative to its directory', async () => {
    const path = join(folder, 'good');
    await writeFile(path, JSON.stringify(kubeconfig()));
    expect((await readKubeconfig(path)).user['client-certificate']).toBe(join(folder, 'pki/node.crt'));
  });

  test('is named in the error if it is missing, a directory, or not a kubeconfig', async () => {
    const missing = join(folder, 'missing');
    await expect(readKubeconfig(missing)).rejects.toThrow(`--kubeconfig: ${missing}: no such file`);
    await expect(readKubeconfig(folder)).rejects.toThrow(`--kubeconfig: ${folder}: a directory, not a file`);
    expect(() => parseKubeconfig(PATH, '{')).toThrow(`--kubeconfig: ${PATH}: `);
    expect(() => parseKubeconfig(PATH, '')).toThrow(
      `--kubeconfig: ${PATH}: current-context: expected the name of a context`,
    );
  });
});
